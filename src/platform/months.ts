/** `2026-11` is one, `2026-13` is none. */
export const isMonth = (text: string): boolean => /^\d{4}-(0[1-9]|1[0-2])$/.test(text);

/** @param month `2026-11` */
export function monthAfter(month: string): string {
  return addMonths(month, 1);
}

/** `2027-01` is two months after `2026-11`. */
export function addMonths(month: string, count: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + count)).toISOString().slice(0, 7);
}
