/** The process, as the use cases see it. */
export type Settings = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly workingFolder: string;
  readonly standardInput?: StandardInput | undefined;
};

/** A terminal is not read. */
export type StandardInput = AsyncIterable<Buffer> & {
  readonly isTTY?: boolean;
  readonly destroy?: () => unknown;
};
