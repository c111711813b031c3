export type SliceRange = {
  readonly run: string;
  readonly slice: number;
  readonly first: number;
  readonly last: number;
};
