/** The process, as the use cases see it. */
export type Settings = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingFolder: string;
  /** Absolute paths of the files that parts of `environment` come from. They are never sent. */
  readonly envFiles?: readonly string[];
  readonly standardInput?: StandardInput | undefined;
};

/** A terminal is not read. */
export type StandardInput = AsyncIterable<Buffer> & {
  readonly isTTY?: boolean;
  readonly destroy?: () => unknown;
};
