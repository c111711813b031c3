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
  /** At which browsers reach the dashboard, without a slash at the end. */
  readonly publicUrl: string;
};

const names = {
  issuer: 'VOLLEY_OIDC_ISSUER',
  clientId: 'VOLLEY_OIDC_CLIENT_ID',
  clientSecret: 'VOLLEY_OIDC_CLIENT_SECRET',
  mapping: 'VOLLEY_OIDC_TOKENS',
  publicUrl: 'VOLLEY_DASHBOARD_URL',
} as const;

const secureUrl = z.url({ error: 'Expected an address.' }).refine(isSecure, {
  error: 'Expected an https: address; http: only for this machine.',
});

const tokensByValue = z.record(z.string(), z.string().regex(tokenNamePattern));

const notSet = 'It is not set.';
const notMapping =
  'Expected names of tokens by claim and value, such as {"groups": {"billing": "billing-desk"}}.';

const schema = z.object({
  issuer: secureUrl.transform((text) => new URL(text)),
  clientId: z.string({ error: notSet }).min(1, notSet),
  clientSecret: z.string({ error: notSet }).min(1, notSet),
  mapping: z.string().transform(parseJson).pipe(z.record(z.string(), tokensByValue)).transform(listMapping),
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
 * The name under which the audit trail has a person: the e-mail address, which the provider keeps and the person does
 * not choose, or else the provider's own identifier.
 */
export function personOf(claims: Claims): string | undefined {
  const texts = [verifiedEmailOf(claims), claims['sub']];
  return texts.find((text) => typeof text === 'string' && personPattern.test(text))?.toString();
}

/** Some providers say `true` as text. Of those that say nothing, some let a person choose any address. */
function verifiedEmailOf({ email, email_verified: verified }: Claims): string | undefined {
  return typeof email === 'string' && String(verified) === 'true' ? email.toLowerCase() : undefined;
}

/** @returns the name of the token for the person; undefined if none is */
export function tokenOf({ mapping }: Pick<CompanySignIn, 'mapping'>, claims: Claims): string | undefined {
  return mapping.find(({ claim, value }) =>
    claim === 'email'
      ? verifiedEmailOf(claims) === value.toLowerCase()
      : Object.hasOwn(claims, claim) && [claims[claim]].flat().includes(value),
  )?.token;
}
