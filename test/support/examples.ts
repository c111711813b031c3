const factor = Number(process.env['VOLLEY_EXAMPLES_FACTOR'] ?? 1);

/** `npm run torture` uses twenty times as many random examples. */
export function examples(count: number): { readonly numRuns: number } {
  return { numRuns: count * factor };
}
