/** SQL of `domain/compared-address.ts`. Addresses are ASCII, so the C collation is safe, and fastest. */
export function comparedAddress(expression: string): string {
  return `lower(${expression} COLLATE "C")`;
}

export function comparedServiceAddress(expression: string): string {
  return `ltrim(${comparedAddress(expression)}, '+')`;
}
