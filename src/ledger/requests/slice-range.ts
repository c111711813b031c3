/** A slice by its number, and the requests it has: from the first to the last. */
export type SliceRange = {
  readonly run: string;
  readonly slice: number;
  readonly first: number;
  readonly last: number;
};
