import { z } from 'zod';
import { personPattern, tokenNamePattern } from '../../domain/access.ts';
import { InputError } from '../../domain/problems.ts';
import { namesThisMachine } from '../../platform/address-list.ts';
import { parseJson } from '../../platform/parse-json.ts';
import type { Settings } from '../settings.ts';

/** How people sign in with the identity provider of their company (OpenID Connect). */
export type CompanySignIn = {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The first whose claim a person has names the token whose scope and accounts they get. */
  readonly mapping: readonly { readonly claim: string; readonly value: string; readonly token: string }[];
  /** The claim that names a person in the audit trail and in approvals. */
  readonly user: string;
  /** At which browsers reach the dashboard, without a slash at the end. */
  readonly publicUrl: string;
};

const names = {
  issuer: 'VOLLEY_OIDC_ISSUER',
  clientId: 'VOLLEY_OIDC_CLIENT_ID',
  clientSecret: 'VOLLEY_OIDC_CLIENT_SECRET',
  mapping: 'VOLLEY_OIDC_TOKENS',
  user: 'VOLLEY_OIDC_USER',
  publicUrl: 'VOLLEY_DASHBOARD_URL',
} as const;

const secureUrl = z.url({ error: 'Expected an address.' }).refine(isSecure, {
  error: 'Expected an https: address; http: only for this machine.',
});

const tokensByValue = z.record(z.string(), z.string().regex(tokenNamePattern));

const notSet = 'It is not set.';
const noUser =
  "Expected the claim that has the name of a person's system user, such as email or preferred_username.";
const notMapping =
  'Expected names of tokens by claim and value, such as {"groups": {"billing": "billing-desk"}}.';

const schema = z.object({
  issuer: secureUrl.transform((text) => new URL(text)),
  clientId: z.string({ error: notSet }).min(1, notSet),
  clientSecret: z.string({ error: notSet }).min(1, notSet),
  mapping: z.string().transform(parseJson).pipe(z.record(z.string(), tokensByValue)).transform(listMapping),
  user: z.string({ error: noUser }).min(1, noUser),
  publicUrl: secureUrl,
});

/**
 * Reads the settings.
 *
 * @throws InputError that quotes no value: one is a secret
 */
export function readCompanySignIn({ environment }: Settings, publicUrl: string | undefined): CompanySignIn {
  const given = Object.entries(names).map(([key, name]) => [key, environment[name]]);
  const read = schema.safeParse({ ...Object.fromEntries(given), publicUrl });
  if (read.success) return read.data;
  const problems = read.error.issues.map(({ path: [key], message }) => {
    const where = Object.entries(names).find(([name]) => name === key)?.[1] ?? names.mapping;
    return { where, what: where === names.mapping ? notMapping : message };
  });
  throw new InputError(problems);
}

function listMapping(
  claims: Readonly<Record<string, Readonly<Record<string, string>>>>,
): CompanySignIn['mapping'] {
  return Object.entries(claims).flatMap(([claim, tokens]) =>
    Object.entries(tokens).map(([value, token]) => ({ claim, value, token })),
  );
}

function isSecure(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && namesThisMachine(url.hostname));
}

/** What the provider says of a person. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * The name of a person: without the part after `@`, that of their system user. So an approval can tell whether two names
 * mean one person (`isSamePerson`).
 *
 * @returns undefined if the provider says none
 */
export function personOf({ user }: Pick<CompanySignIn, 'user'>, claims: Claims): string | undefined {
  return z.string().regex(personPattern).safeParse(claimIn(claims, user)).data;
}

/** Of one of the provider's own claims. */
function claimIn(claims: Claims, claim: string): unknown {
  if (claim === 'email') return verifiedEmailOf(claims);
  return Object.hasOwn(claims, claim) ? claims[claim] : undefined;
}

/** Some providers say `true` as text. Of those that say nothing, some let a person choose any address. */
function verifiedEmailOf({ email, email_verified: verified }: Claims): string | undefined {
  return typeof email === 'string' && String(verified) === 'true' ? email.toLowerCase() : undefined;
}

/** @returns the name of the token for the person; undefined if none is */
export function tokenOf({ mapping }: Pick<CompanySignIn, 'mapping'>, claims: Claims): string | undefined {
  return mapping.find(({ claim, value }) =>
    [claimIn(claims, claim)].flat().includes(claim === 'email' ? value.toLowerCase() : value),
  )?.token;
}
