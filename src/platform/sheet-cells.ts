/** Letters of a column by its index: A, B, …, Z, AA, …. */
export function columnLetters(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : columnLetters(Math.floor(index / 26) - 1) + last;
}

/** Where a cell stands, as spreadsheets write it: `Sheet1!C17`, `'My sheet'!A1`. */
export function cellPlace(sheet: string, row: number, column = 0): string {
  const isPlain = /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(sheet) && !/^[A-Za-z]{1,3}\d+$/.test(sheet);
  return `${isPlain ? sheet : `'${sheet.replaceAll("'", "''")}'`}!${columnLetters(column)}${row}`;
}
