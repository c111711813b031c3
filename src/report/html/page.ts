import type { Sheet } from '../formats/sheet.ts';
export async function* htmlText<Row>(_sheet: Sheet<Row>): AsyncGenerator<string, void, undefined> {}
