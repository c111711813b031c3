const factor = Number(process.env['VOLLEY_EXAMPLES_FACTOR'] ?? 1);

/** The number of random examples of a property in `npm test`; `npm run torture` uses twenty times as many. */
export function examples(count: number): { readonly numRuns: number } {
  return { numRuns: count * factor };
}
