/** What a use case has of the process it runs in. */
export type Settings = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingFolder: string;
  /** Contacts may come from here. */
  readonly standardInput?: (AsyncIterable<Buffer> & { readonly isTTY?: boolean }) | undefined;
};
