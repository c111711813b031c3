import { replaceUnsupportedCharacters } from './characters.ts';
import type { EncodedAnswer, OutgoingAnswer } from './wire-interface.ts';
import { buildXmlWithAttributes, type XmlElements } from './xml.ts';

/**
 * The SOAP 1.1 envelope (interface.md, 4.3). The namespace of the operation is not shown, so readers ignore
 * it.
 */

const soapNamespace = 'http://schemas.xmlsoap.org/soap/envelope/';
export const ttsNamespace = 'urn:SendTTSService';

/** @throws Error for text that XML cannot carry */
export function soapEnvelope(header: XmlElements | undefined, body: XmlElements): string {
  return buildXmlWithAttributes({
    'soap:Envelope': {
      '@xmlns:soap': soapNamespace,
      '@xmlns:tns': ttsNamespace,
      ...(header ? { 'soap:Header': header } : {}),
      'soap:Body': body,
    },
  });
}

/**
 * The format of `ttsReturn` is not shown; it names the job number as in earlier interfaces (4.2). A refusal
 * is a sender fault, which SOAP over HTTP sends with status 500.
 */
export function encodeSoapAnswer(answer: OutgoingAnswer): EncodedAnswer {
  switch (answer.kind) {
    case 'accepted':
      return soap(200, { 'tns:ttsResponse': { ttsReturn: `Job ${answer.jobNumber}` } });
    case 'refused':
      return soap(500, fault('soap:Client', answer.words));
    case 'unauthorized':
      return soap(401, fault('soap:Client', answer.words));
    case 'fault':
      return soap(500, fault('soap:Server', answer.words));
  }
}

function fault(faultcode: string, words: readonly string[]): XmlElements {
  return { 'soap:Fault': { faultcode, faultstring: replaceUnsupportedCharacters(words.join('; ')) } };
}

function soap(status: number, body: XmlElements): EncodedAnswer {
  return {
    status,
    headers: { 'Content-Type': 'text/xml; charset=utf-8' },
    body: soapEnvelope(undefined, body),
  };
}
