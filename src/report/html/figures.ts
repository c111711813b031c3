/** Separates thousands, without rounding: `1234567.50` is `1,234,567.50`. Other texts stay. */
export function groupThousands(figure: string | number): string {
  return String(figure).replace(/^([+-]?)(\d{4,})(?=\.\d+$|$)/, (_, sign: string, whole: string) => {
    return sign + whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  });
}
