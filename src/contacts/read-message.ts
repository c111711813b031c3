import type { CountryCode } from 'libphonenumber-js/max';
import type { ComposedVariants } from '../campaign/compose-variants.ts';
import type { Composition } from '../campaign/composition.ts';
import type { Invalid, ValueIn } from '../campaign/invalid.ts';
import { createPersonaliser } from '../campaign/personalise.ts';
import type { ContactMessage } from '../domain/contacts.ts';
import { memoize } from '../platform/memoize.ts';
import type { AddressReader } from './address.ts';
import { createRouteNumberReader } from './route-numbers.ts';

type ReadMessage = (
  valueIn: ValueIn,
  ownCountry: CountryCode | undefined,
) => ({ readonly kind: 'message' } & ContactMessage) | Invalid;

/** @param readAddress the recipients' reader, which also reads the numbers that buttons of a call connect to */
export function createMessageReader(
  { messagesOf, assign }: Pick<ComposedVariants, 'messagesOf' | 'assign'>,
  readAddress: AddressReader,
): (...of: [...Parameters<ReadMessage>, variant: number | undefined]) => ReturnType<ReadMessage> {
  const readerOf = memoize((composition: Composition) => createReader(composition, readAddress));
  const [only] = messagesOf(undefined);
  const readOnly = readerOf(only);
  if (!assign) return readOnly;
  return (valueIn, ownCountry, variant) => {
    const [first, ...others] = messagesOf(variant);
    const message = readerOf(first)(valueIn, ownCountry);
    if (message.kind === 'invalid' || others.length === 0) return message;
    const alternatives: ContactMessage[] = [];
    for (const each of others) {
      const read = readerOf(each)(valueIn, ownCountry);
      if (read.kind === 'invalid') return read;
      alternatives.push(read);
    }
    return { ...message, alternatives };
  };
}

function createReader(composition: Composition, readAddress: AddressReader): ReadMessage {
  const personalise = createPersonaliser(composition);
  const routeCall = createRouteNumberReader(composition, readAddress);
  return (valueIn, ownCountry) => {
    const personalised = personalise(valueIn);
    if (personalised.kind === 'invalid') return personalised;
    const routed = routeCall(personalised.envelope, ownCountry);
    if (routed.kind === 'invalid') return routed;
    return { kind: 'message', envelope: routed.envelope, destination: personalised.destination };
  };
}
