// Adds what a page can do by itself: one turn and one part at a time, tables that sort, page and are
// searched, copies. Without it everything is there to be read. Text is only ever set as text.
(() => {
  const root = document.documentElement;
  root.classList.add('js');
  const keep = (name, value) => { try { localStorage.setItem(name, value); } catch { /* not allowed here */ } };
  const kept = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  const chosen = kept('csv-agent-theme');
  if (chosen === 'dark' || chosen === 'light') root.dataset.theme = chosen;

  const count = (n) => n.toLocaleString('en');

  // Themes.
  const darkness = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : darkness.matches);
  const themes = () => {
    const toggle = document.getElementById('theme');
    const tell = () => { toggle.textContent = isDark() ? 'Light' : 'Dark'; };
    toggle.onclick = () => {
      root.dataset.theme = isDark() ? 'light' : 'dark';
      keep('csv-agent-theme', root.dataset.theme);
      tell();
    };
    darkness.addEventListener('change', tell);
    tell();
  };

  // Turns and their parts.
  const partOf = (panel) => panel.id.slice(panel.id.lastIndexOf('-') + 1);
  const panelsOf = (turn) => all(turn, 'section.panel');
  let part = 'summary';

  const openPanel = (turn, wanted) => {
    part = wanted;
    for (const panel of panelsOf(turn)) {
      const is = partOf(panel) === wanted;
      panel.classList.toggle('open', is);
      const tab = document.getElementById(panel.getAttribute('aria-labelledby'));
      tab.setAttribute('aria-selected', is);
      tab.tabIndex = is ? 0 : -1;
      if (is) all(panel, 'figure.data').forEach(start);
    }
  };

  const openTurn = (turn, wanted) => {
    for (const it of all(document, 'article.turn')) it.classList.toggle('open', it === turn);
    for (const it of all(document, '.turns a')) {
      if (it.hash === '#' + turn.id) {
        it.setAttribute('aria-current', 'true');
        it.scrollIntoView({ block: 'nearest' });
      } else it.removeAttribute('aria-current');
    }
    openPanel(turn, wanted);
  };

  const follow = (isFirst) => {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { /* no id */ }
    const turn = target?.closest('article.turn');
    if (!turn) {
      if (isFirst) openTurn(document.querySelector('article.turn.open'), 'summary');
      return;
    }
    const panel = target.closest('section.panel');
    openTurn(turn, panel ? partOf(panel) : target === turn ? part : 'summary');
    for (let it = target.closest('details'); it; it = it.parentElement.closest('details')) it.open = true;
    (target === panel ? turn : target).scrollIntoView();
    if (!isFirst && target.tabIndex === -1 && target !== panel) target.focus({ preventScroll: true });
  };

  const tabs = (turn) => {
    const list = turn.querySelector('.tabs');
    list.setAttribute('role', 'tablist');
    const links = all(list, 'a');
    links.forEach((tab, at) => {
      const panel = document.getElementById(tab.hash.slice(1));
      tab.setAttribute('role', 'tab');
      tab.setAttribute('aria-controls', panel.id);
      panel.setAttribute('role', 'tabpanel');
      panel.setAttribute('aria-labelledby', tab.id);
      const open = (event) => {
        event.preventDefault();
        history.replaceState(null, '', tab.hash);
        openPanel(turn, partOf(panel));
      };
      tab.onclick = open;
      tab.onkeydown = (event) => {
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: links.length - 1 }[event.key];
        if (to !== undefined) {
          const next = links[(to + links.length) % links.length];
          next.focus();
          next.onclick(event);
        } else if (event.key === ' ') open(event);
      };
    });
  };

  // Tables.
  const SIZES = [25, 50, 100];
  const words = new Intl.Collator('en', { numeric: false });
  const numeral = /^-?\d+(\.\d+)?$/;
  const compare = {
    number: (a, b) => {
      const whole = /^-?\d{16,}$/;
      if (whole.test(a) || whole.test(b)) {
        if (/^-?\d+$/.test(a) && /^-?\d+$/.test(b)) {
          const [m, n] = [BigInt(a), BigInt(b)];
          return m < n ? -1 : m > n ? 1 : 0;
        }
      }
      return Number(a) - Number(b);
    },
    time: (a, b) => {
      const [m, n] = [Date.parse(a), Date.parse(b)];
      return m - n || (a < b ? -1 : a > b ? 1 : 0);
    },
    truth: (a, b) => (a === b ? 0 : a === 'false' ? -1 : 1),
    // Decimals and codes come as text: 9 stands before 10, and both before words.
    text: (a, b) => {
      const [m, n] = [numeral.test(a), numeral.test(b)];
      return m && n ? compare.number(a, b) : m || n ? n - m : words.compare(a, b);
    },
  };

  const start = (figure) => {
    if (figure.dataset.started) return;
    figure.dataset.started = 'yes';
    const table = figure.querySelector('table');
    if (!table) return;
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    const heads = Array.from(table.tHead.rows[0].cells);
    const sorts = heads.map((it) => it.dataset.sort);
    let texts = null;
    let shown = rows;
    let order = { column: -1, direction: 1 };
    let size = SIZES[0];
    let page = 0;

    const told = make('span', { className: 'told', role: 'status' });
    const back = button('Previous', () => { page -= 1; draw(); });
    const next = button('Next', () => { page += 1; draw(); });
    const draw = () => {
      const n = shown.length;
      const n_pages = Math.max(1, Math.ceil(n / size));
      page = Math.min(Math.max(page, 0), n_pages - 1);
      const [from, to] = [page * size, Math.min(n, (page + 1) * size)];
      for (const row of all(body, 'tr.on')) row.classList.remove('on');
      shown.slice(from, to).forEach((row) => row.classList.add('on'));
      back.disabled = page === 0;
      next.disabled = page === n_pages - 1;
      const rest = n === rows.length ? '' : ` found in ${count(rows.length)}`;
      told.textContent = n === 0 ? `No row${rest}` : `Rows ${count(from + 1)}\u2013${count(to)} of ${count(n)}${rest}`;
    };
    const arrange = () => {
      const wanted = find.value.trim().toLowerCase();
      if (wanted) texts ??= new Map(rows.map((it) => [it, Array.from(it.cells, (cell) => cell.textContent).join('\n').toLowerCase()]));
      shown = wanted ? rows.filter((it) => texts.get(it).includes(wanted)) : rows.slice();
      if (order.column >= 0) {
        const sort = sorts[order.column];
        const keys = new Map(shown.map((it) => [it, value(it.cells[order.column], sort)]));
        shown.sort((a, b) => {
          const [m, n] = [keys.get(a), keys.get(b)];
          if (m === null || n === null) return (m === null) - (n === null);
          return order.direction * compare[sort](m, n);
        });
      }
      const out = new Set(rows);
      for (const row of shown) out.delete(row);
      for (const row of rows) row.classList.toggle('out', out.has(row));
      // Found rows first: what prints is counted from the top.
      body.append(...shown, ...out);
      page = 0;
      draw();
    };

    heads.forEach((head, column) => {
      const arrow = make('span', { className: 'arrow' });
      arrow.setAttribute('aria-hidden', 'true');
      const press = make('button', { type: 'button' }, ...head.childNodes, arrow);
      press.onclick = () => {
        const again = order.column === column;
        if (again && order.direction < 0) order = { column: -1, direction: 1 };
        else order = { column, direction: again ? -1 : 1 };
        heads.forEach((it, at) => {
          it.setAttribute('aria-sort', at !== order.column ? 'none' : order.direction > 0 ? 'ascending' : 'descending');
        });
        arrange();
      };
      head.replaceChildren(press);
      head.setAttribute('aria-sort', 'none');
    });
    for (const cell of all(body, 'td.n[data-v]')) cell.title = value(cell, 'number');

    const name = figure.dataset.name;
    let wait = 0;
    const find = make('input', { type: 'search', placeholder: 'Find', label: `Find in ${name}` });
    find.oninput = () => { clearTimeout(wait); wait = setTimeout(arrange, 120); };
    const sizes = make('select', { label: 'Rows a page' },
      ...SIZES.map((it) => make('option', { value: it, textContent: `${it} rows` })));
    sizes.onchange = () => { size = Number(sizes.value); page = 0; draw(); };
    const download = button('CSV', () => {
      saveRows(figure, rows);
    }, `Download ${name} as CSV`);

    const above = make('div', { className: 'controls' });
    if (rows.length > 5) above.append(find);
    above.append(told);
    if (rows.length > SIZES[0]) above.append(back, next, sizes);
    // A cell that is cut is not the cell.
    if (!('cut' in figure.dataset)) above.append(download);
    table.parentElement.before(above);
    draw();
  };

  // Copies and drawings.
  const copies = () => {
    for (const it of all(document, '.copied')) {
      const text = it.querySelector('pre').textContent;
      const press = button('Copy', async () => {
        try { await navigator.clipboard.writeText(text); } catch {
          const area = make('textarea', { value: text });
          it.append(area);
          area.select();
          document.execCommand('copy');
          area.remove();
          press.focus();
        }
        press.textContent = 'Copied';
        setTimeout(() => { press.textContent = 'Copy'; }, 1500);
      });
      press.setAttribute('aria-live', 'polite');
      it.append(press);
    }
    for (const figure of all(document, 'figure.chart')) {
      const drawings = all(figure, '.paper svg');
      if (!drawings.length) continue;
      const press = button('SVG', () => {
        save(new XMLSerializer().serializeToString(drawings[isDark() ? 1 : 0]), 'image/svg+xml', fileName(figure, '.svg'));
      }, `Download ${figure.dataset.name} as SVG`);
      figure.querySelector('figcaption').append(press);
    }
  };

  document.addEventListener('DOMContentLoaded', () => {
    themes();
    document.getElementById('print').onclick = () => print();
    all(document, 'article.turn').forEach(tabs);
    for (const it of all(document, 'details.data')) it.addEventListener('toggle', () => { if (it.open) start(it); });
    copies();
    // On a small screen, the answer comes first: what is above and below it is closed.
    if (matchMedia('(max-width: 48rem)').matches) {
      for (const it of all(document, '.rail > details, .activity > details')) it.open = false;
    }
    follow(true);
    addEventListener('hashchange', () => follow(false));
    // A link to where the page is already changes no hash.
    document.addEventListener('click', (event) => {
      const link = event.target.closest('a[href^="#"]:not([role])');
      if (link && link.hash === location.hash) follow(false);
    });
    addEventListener('beforeprint', () => all(document, 'figure.data').forEach(start));
  });
})();
