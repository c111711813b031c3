import Table from 'cli-table3';

/** Prints what was measured, and its figures. */
export function printTable(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  table.push(...rows.map((row) => [...row]));
  console.log(title);
  console.log(table.toString());
}

/** Such as `100,000`. */
export const grouped = (count: number): string => count.toLocaleString('en');
