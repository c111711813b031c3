import type { Format, InterfaceName } from '../domain/message.ts';
import { InputError } from '../domain/problems.ts';
import { rest102Json, rest102Xml, rest104Json, rest104Xml } from './rest-1.ts';
import { rest202Json, rest202Xml } from './rest-2.02.ts';
import { soapTts } from './soap-tts.ts';
import type { WireInterface } from './wire-interface.ts';

export const wireInterfaces: readonly WireInterface[] = [
  rest202Json,
  rest202Xml,
  rest104Json,
  rest104Xml,
  rest102Json,
  rest102Xml,
  soapTts,
];

/** @throws InputError, with the available combinations, for one that is not available */
export function wireInterface(name: InterfaceName, format: Format): WireInterface {
  const found = wireInterfaces.find((candidate) => candidate.name === name && candidate.format === format);
  if (found) return found;
  const available = wireInterfaces.map((candidate) => `${candidate.name} in ${candidate.format}`).join(', ');
  throw new InputError([
    {
      where: `interface ${name}, format ${format}`,
      what: `This combination is not available. Set the account's interface and format to one of: ${available}.`,
    },
  ]);
}
