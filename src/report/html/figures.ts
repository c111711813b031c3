/** Separates thousands, without rounding: `1234567.50` is `1,234,567.50`. Other texts stay. */
export function groupThousands(figure: string | number): string {
  return String(figure).replace(
    /^([+-]?)([1-9]\d{3,})(?=\.\d+$|$)/,
    (_, sign: string, whole: string) => sign + BigInt(whole).toLocaleString('en'),
  );
}

/** A share in tenths of a percent. It is never all before the last, and never none after the first. */
export function share(part: number, whole: number): string {
  if (whole === 0) return '–';
  const tenths = Math.round((part / whole) * 1_000);
  if (tenths === 0 && part > 0) return '< 0.1 %';
  return `${((part < whole ? Math.min(tenths, 999) : tenths) / 10).toFixed(1)} %`;
}
