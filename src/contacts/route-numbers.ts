import type { CountryCode } from 'libphonenumber-js/max';
import type { Campaign } from '../campaign/campaign.ts';
import type { ComposedKeypad, Composition } from '../campaign/composition.ts';
import { type Invalid, invalid } from '../campaign/invalid.ts';
import { columnsOf, hasPlaceholder } from '../campaign/placeholders.ts';
import type { Envelope } from '../domain/message.ts';
import type { Problem } from '../domain/problems.ts';
import type { AddressReader } from './address.ts';

/** The numbers that the buttons of a call connect to: read, checked and sent in one form, as recipients are. */

type Routed = { readonly kind: 'envelope'; readonly envelope: Envelope } | Invalid;

/** An envelope with its route numbers in E.164, or which of them is no phone number. */
export type RouteNumberReader = (envelope: Envelope, ownCountry: CountryCode | undefined) => Routed;

/**
 * Contacts that share an envelope and a country share what comes of it.
 *
 * @param readAddress as it reads recipients; a number from a column is of the contact's own country, if it has one
 */
export function createRouteNumberReader(
  { keypads }: Pick<Composition, 'keypads'>,
  readAddress: AddressReader,
): RouteNumberReader {
  if (keypads.length === 0) return (envelope) => ({ kind: 'envelope', envelope });
  const known = new WeakMap<Envelope, Map<CountryCode | undefined, Routed>>();
  return (envelope, ownCountry) => {
    const byCountry = known.get(envelope) ?? new Map<CountryCode | undefined, Routed>();
    known.set(envelope, byCountry);
    const routed = byCountry.get(ownCountry) ?? routeCall(envelope, ownCountry, keypads, readAddress);
    byCountry.set(ownCountry, routed);
    return routed;
  };
}

function routeCall(
  envelope: Envelope,
  ownCountry: CountryCode | undefined,
  composed: readonly ComposedKeypad[],
  readAddress: AddressReader,
): Routed {
  const keypads = [];
  for (const { Tone, RouteNumber } of envelope.keypads) {
    const template = composed.find(({ tone }) => tone === Tone)?.routeNumber ?? [];
    const columns = columnsOf(template);
    const read = readAddress(RouteNumber, columns.length === 0 ? undefined : ownCountry);
    if (read.kind === 'invalid') {
      const [column = 'Keypads', ...others] = columns;
      return invalid(others.length === 0 ? column : 'Keypads', `button ${Tone}: ${read.detail}`);
    }
    keypads.push({ Tone, RouteNumber: read.address });
  }
  return { kind: 'envelope', envelope: { ...envelope, keypads } };
}

/** What is wrong with the route numbers that are the same for everybody. */
export function routeNumberProblems(
  { value: { message }, locate }: Campaign,
  readAddress: AddressReader,
): Problem[] {
  return (message.Keypads ?? []).flatMap(({ RouteNumber }, index) => {
    const read = hasPlaceholder(RouteNumber) ? undefined : readAddress(RouteNumber);
    if (read?.kind !== 'invalid') return [];
    const path = ['message', 'Keypads', index, 'RouteNumber'];
    return [{ where: locate(path), what: `"${path.join('.')}": ${read.detail}.` }];
  });
}
