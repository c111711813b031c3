export type Invalid = { readonly kind: 'invalid'; readonly column: string; readonly detail: string };

export type ValueIn = (column: string) => string;

export function invalid(column: string, detail: string): Invalid {
  return { kind: 'invalid', column, detail };
}
