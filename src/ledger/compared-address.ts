/** SQL: `domain/compared-address.ts` of an expression. Recipients' addresses are ASCII, so the collation is the fastest. */
export function comparedAddress(expression: string): string {
  return `lower(${expression} COLLATE "C")`;
}

export function comparedWithService(expression: string): string {
  return `ltrim(${comparedAddress(expression)}, '+')`;
}
