import { type Command, Help } from 'commander';
import { exitCodes } from './exit-codes.ts';

/** What `volley --help` and the man page say of Volley. */
export const purpose =
  'Bulk campaign batch engine: nothing lost, nothing silently duplicated, every unknown named.';

/** The title of the exit codes of one command, in its help and in the reference. */
export const exitsTitle = 'Exit codes besides 0, 1 and 2:';

type HelpSection = {
  readonly title: string;
  readonly entries: readonly (readonly [name: string, text: string])[];
};

/** The end of `volley --help`, and of the man page. */
export const helpSections: readonly HelpSection[] = [
  {
    title: 'Exit codes',
    entries: Object.entries(exitCodes),
  },
  {
    title: 'Environment',
    entries: [
      ['.env', "can set these in the project's folder; the environment takes precedence"],
      ['DATABASE_URL', 'Postgres; without it an embedded server is started in VOLLEY_HOME'],
      ['DATABASE_READ_URL', 'a standby of that Postgres, for reports, exports and searches'],
      ['VOLLEY_READ_REPLICA', '"prefer" (the default) or "require" the standby, at most so old: prefer 60s'],
      ['VOLLEY_HOME', "state of the embedded server (default: .volley in the project's folder, volley init)"],
      ['VOLLEY_ACCOUNTS', "the accounts file (default campaigns/accounts.yaml, in the project's folder)"],
      ['VOLLEY_CELLS', 'the file of the cells, where accounts are divided over several Postgres'],
      ['VOLLEY_HASH_KEY', 'key of the hashed suppressions, see volley purge (default: VOLLEY_HOME/hash-key)'],
      ['VOLLEY_PUBLIC_URL', 'where the service reaches volley serve'],
      ['VOLLEY_DASHBOARD_URL', 'where browsers reach the dashboard through a proxy'],
      ['VOLLEY_OIDC_ISSUER', "the company's identity provider, with which people sign in to the dashboard"],
      ['VOLLEY_OIDC_CLIENT_ID', 'the name of Volley there'],
      ['VOLLEY_OIDC_CLIENT_SECRET', 'its secret there'],
      ['VOLLEY_OIDC_TOKENS', 'which token is for whom, by claim and value, as JSON'],
      ['VOLLEY_OIDC_USER', "the claim that has the name of a person's system user, such as email"],
      ['LOG_LEVEL', 'debug, info, warn, error, silent'],
      ['NO_COLOR', 'no colours on a terminal'],
      ['TZ', 'the zone of times on a terminal, without --time-zone'],
    ],
  },
];

export function helpText(): string {
  const sections = helpSections.map(({ title, entries }) => {
    const width = Math.max(...entries.map(([name]) => name.length), 5);
    return [`\n${title}:`, ...entries.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)].join('\n');
  });
  return sections.join('\n');
}

/** The help of commander, with the options after the commands. */
export function commandsFirst(command: Command, helper: Help): string {
  const parts = Help.prototype.formatHelp.call(helper, command, helper).trimEnd().split('\n\n');
  const isOptions = (part: string): boolean => part.startsWith('Options:');
  return `${[...parts.filter((part) => !isOptions(part)), ...parts.filter(isOptions)].join('\n\n')}\n`;
}
