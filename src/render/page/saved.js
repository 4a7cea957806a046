'use strict';
// What every page needs: elements, the values of a table's cells, and files to save.
const all = (where, what) => Array.from(where.querySelectorAll(what));
const make = (tag, members, ...children) => {
  const { role, label, ...rest } = members;
  const it = Object.assign(document.createElement(tag), rest);
  if (role) it.setAttribute('role', role);
  if (label) it.setAttribute('aria-label', label);
  it.append(...children);
  return it;
};
const button = (text, onclick, label) => make('button', { type: 'button', textContent: text, onclick, label });

const isNull = (cell) => cell.classList.contains('x');
const plainNumber = (text) => text.replaceAll(',', '').replace('\u2212', '-');

// What a cell holds, as CSV has it; none for null.
const value = (cell, sort) => {
  if (isNull(cell)) return null;
  const exact = cell.dataset.v;
  if (exact !== undefined) return exact.startsWith('"') ? JSON.parse(exact) : exact;
  if (cell.firstElementChild?.className === 'e') return '';
  return sort === 'number' ? plainNumber(cell.textContent) : cell.textContent;
};

const save = (content, type, name) => {
  const url = URL.createObjectURL(new Blob([content], { type }));
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
};
const fileName = (it, extension) =>
  (it.dataset.name.replace(/[^\p{L}\p{N}_-]+/gu, '_').slice(0, 60) || 'table') + extension;

// Saves rows of the table of a figure as CSV, as the program writes it.
const quoted = (text) => (text === '' || /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
const saveRows = (figure, rows) => {
  const table = figure.querySelector('table');
  const sorts = Array.from(table.tHead.rows[0].cells, (it) => it.dataset.sort);
  const line = (cells) => cells.map((it) => (it === null ? (cells.length === 1 ? '""' : '') : quoted(it))).join(',');
  const lines = rows.map((row) => line(Array.from(row.cells, (cell, at) => value(cell, sorts[at]))));
  save([line(JSON.parse(table.dataset.columns)), ...lines].join('\n') + '\n', 'text/csv;charset=utf-8', fileName(figure, '.csv'));
};

