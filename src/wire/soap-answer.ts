import { replaceUnsupportedCharacters } from './characters.ts';
import type { EncodedAnswer, OutgoingAnswer } from './wire-interface.ts';
import { buildXmlWithAttributes, type XmlElements } from './xml.ts';

/**
 * The SOAP envelope (version 1.1, as "SOAP over HTTP" with a SOAP action is; interface.md, 4.3), and the answers in it.
 * The namespace of the operation is not shown; it is written here and passed over in reading.
 */

export const soapNamespace = 'http://schemas.xmlsoap.org/soap/envelope/';
export const ttsNamespace = 'urn:SendTTSService';

/** A SOAP 1.1 document. @throws Error for text that XML cannot carry */
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
 * The format of `ttsReturn` is not shown: it names the job, as the plain form of the earlier interfaces does (4.2). What
 * REST answers with 400 is a fault of the sender, which SOAP over HTTP sends with status 500.
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
