const factor = Number(process.env['VOLLEY_EXAMPLES_FACTOR'] ?? 1);

/** `npm run torture` uses twenty times as many random examples. */
export function examples(count: number): { readonly numRuns: number } {
  return { numRuns: count * factor };
}

/** Of data that is as large as it may be: `npm run torture` takes all of it. */
export function scaled<Size>(usual: Size, inTorture: Size): Size {
  return factor > 1 ? inTorture : usual;
}
