const factor = Number(process.env['VOLLEY_EXAMPLES_FACTOR'] ?? 1);

/**
 * On how many examples a property is tried in `npm test`; `npm run torture` tries it on twenty times as many. They are others
 * each time.
 */
export function examples(count: number): { readonly numRuns: number } {
  return { numRuns: count * factor };
}
