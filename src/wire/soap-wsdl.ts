import { ttsNamespace } from './soap-answer.ts';
import { soapAction, soapParts } from './soap-tts.ts';
import type { EncodedAnswer, ReceivedRequest } from './wire-interface.ts';
import { buildXmlWithAttributes, type XmlElements } from './xml.ts';

/**
 * WSDL 1.1 of the SOAP interface (interface.md, 2.10 and 4.3), from which toolkits generate clients and
 * servers.
 */

const schemaNamespace = 'http://www.w3.org/2001/XMLSchema';
const wsdlNamespace = 'http://schemas.xmlsoap.org/wsdl/';
const wsdlSoapNamespace = 'http://schemas.xmlsoap.org/wsdl/soap/';
const soapOverHttp = 'http://schemas.xmlsoap.org/soap/http';
const operation = 'send_tts';

/** `?wsdl` after any path that accepts SOAP; undefined for other requests. */
export function decodeWsdlRequest(received: ReceivedRequest): { readonly address: string } | undefined {
  const { method, path, query, headers } = received;
  if (method !== 'GET' || path.startsWith('/api/') || !/^wsdl(?![^=&])/i.test(query)) return undefined;
  return { address: requestedAddress(headers['host'], path) };
}

/** Replaces a Host header that is no host name with this machine. */
function requestedAddress(host: string | readonly string[] | undefined, path: string): string {
  const isHost = typeof host === 'string' && /^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i.test(host);
  const url = (isHost ? URL.parse(`http://${host}`) : null) ?? new URL('http://localhost');
  url.pathname = path;
  return url.href;
}

export function encodeWsdl(address: string): EncodedAnswer {
  return {
    status: 200,
    headers: { 'Content-Type': 'text/xml; charset=utf-8' },
    body: buildXmlWithAttributes({
      'wsdl:definitions': {
        '@name': 'SendTTSService',
        '@targetNamespace': ttsNamespace,
        '@xmlns:tns': ttsNamespace,
        '@xmlns:wsdl': wsdlNamespace,
        '@xmlns:soap': wsdlSoapNamespace,
        '@xmlns:xs': schemaNamespace,
        'wsdl:types': { 'xs:schema': schema() },
        'wsdl:message': [message('send_ttsRequest', operation), message('send_ttsResponse', 'ttsResponse')],
        'wsdl:portType': {
          '@name': 'SendTTSPortType',
          'wsdl:operation': {
            '@name': operation,
            'wsdl:input': { '@message': 'tns:send_ttsRequest' },
            'wsdl:output': { '@message': 'tns:send_ttsResponse' },
          },
        },
        'wsdl:binding': binding(),
        'wsdl:service': {
          '@name': 'SendTTSService',
          'wsdl:port': {
            '@name': 'SendTTSPort',
            '@binding': 'tns:SendTTSBinding',
            'soap:address': { '@location': address },
          },
        },
      },
    }),
  };
}

function schema(): XmlElements {
  return {
    '@targetNamespace': ttsNamespace,
    '@elementFormDefault': 'unqualified',
    'xs:element': [elementOf(operation, soapParts), elementOf('ttsResponse', ['ttsReturn'])],
  };
}

/** An element with each part at most once, in this order. */
function elementOf(name: string, parts: readonly string[]): XmlElements {
  const children = parts.map((part) => ({
    '@name': part,
    '@type': part === 'csv_file' ? 'xs:base64Binary' : 'xs:string',
    '@minOccurs': '0',
  }));
  return { '@name': name, 'xs:complexType': { 'xs:sequence': { 'xs:element': children } } };
}

function message(name: string, element: string): XmlElements {
  return { '@name': name, 'wsdl:part': { '@name': 'parameters', '@element': `tns:${element}` } };
}

function binding(): XmlElements {
  const literal = { 'soap:body': { '@use': 'literal' } };
  return {
    '@name': 'SendTTSBinding',
    '@type': 'tns:SendTTSPortType',
    'soap:binding': { '@style': 'document', '@transport': soapOverHttp },
    'wsdl:operation': {
      '@name': operation,
      'soap:operation': { '@soapAction': soapAction },
      'wsdl:input': literal,
      'wsdl:output': literal,
    },
  };
}
