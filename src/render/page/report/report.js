// Adds a way to save each table. Without it everything is there to be read.
document.addEventListener('DOMContentLoaded', () => {
  // A cell that is cut is not the cell.
  for (const figure of all(document, 'figure.data:not([data-cut])')) {
    const rows = Array.from(figure.querySelector('tbody').rows);
    const press = button('CSV', () => saveRows(figure, rows), `Download ${figure.dataset.name} as CSV`);
    figure.querySelector('figcaption').append(press);
  }
});
