import type { CountryCode } from 'libphonenumber-js/max';
import type { Campaign } from '../campaign/campaign.ts';
import type { ComposedKeypad, Composition } from '../campaign/composition.ts';
import { type Invalid, invalid } from '../campaign/invalid.ts';
import { columnsOf, hasPlaceholder } from '../campaign/placeholders.ts';
import { sentVariants } from '../campaign/variants.ts';
import type { Envelope } from '../domain/message.ts';
import type { Problem } from '../domain/problems.ts';
import type { AddressReader } from './address.ts';

/** The numbers to which buttons connect a call: read, checked and sent like recipients. */

type Routed = { readonly kind: 'envelope'; readonly envelope: Envelope } | Invalid;

type RouteNumberReader = (envelope: Envelope, ownCountry: CountryCode | undefined) => Routed;

/**
 * Contacts with the same envelope and country share the result.
 *
 * @param readAddress the recipients' reader; a number from a column uses the contact's own country
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

/** Those of all variants. */
export function routeNumberProblems(campaign: Campaign, readAddress: AddressReader): Problem[] {
  return sentVariants(campaign).flatMap((variant) => problemsOfVariant(variant.campaign, readAddress));
}

function problemsOfVariant({ value: { message }, locate }: Campaign, readAddress: AddressReader): Problem[] {
  return (message.Keypads ?? []).flatMap(({ RouteNumber }, index) => {
    const read = hasPlaceholder(RouteNumber) ? undefined : readAddress(RouteNumber);
    if (read?.kind !== 'invalid') return [];
    const path = ['message', 'Keypads', index, 'RouteNumber'];
    return [{ where: locate(path), what: `"${path.join('.')}": ${read.detail}.` }];
  });
}
