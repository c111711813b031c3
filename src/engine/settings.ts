/** What the use cases have of the process they run in. */
export type Settings = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute. Paths of campaigns and contact files are relative to it, where nothing else is said. */
  readonly workingFolder: string;
  /** Absent: nothing is piped in. */
  readonly standardInput?: StandardInput | undefined;
};

/** What is piped in; of a terminal nothing is read. */
export type StandardInput = AsyncIterable<Buffer> & {
  readonly isTTY?: boolean;
  readonly destroy?: () => unknown;
};
