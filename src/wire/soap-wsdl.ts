import { escapeHtml } from '../domain/html.ts';
import { ttsNamespace } from './soap-answer.ts';
import { soapAction, soapParts } from './soap-tts.ts';
import type { EncodedAnswer, ReceivedRequest } from './wire-interface.ts';

/**
 * WSDL 1.1 of the SOAP interface (interface.md, 2.10 and 4.3), from which toolkits generate clients and
 * servers.
 */

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
  const body = `<?xml version="1.0" encoding="UTF-8"?>
<wsdl:definitions name="SendTTSService" targetNamespace="${ttsNamespace}" xmlns:tns="${ttsNamespace}"
  xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
  xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <wsdl:types>
    <xs:schema targetNamespace="${ttsNamespace}" elementFormDefault="unqualified">
${elementOf('send_tts', soapParts)}
${elementOf('ttsResponse', ['ttsReturn'])}
    </xs:schema>
  </wsdl:types>
  <wsdl:message name="send_ttsRequest"><wsdl:part name="parameters" element="tns:send_tts"/></wsdl:message>
  <wsdl:message name="send_ttsResponse"><wsdl:part name="parameters" element="tns:ttsResponse"/></wsdl:message>
  <wsdl:portType name="SendTTSPortType">
    <wsdl:operation name="send_tts">
      <wsdl:input message="tns:send_ttsRequest"/>
      <wsdl:output message="tns:send_ttsResponse"/>
    </wsdl:operation>
  </wsdl:portType>
  <wsdl:binding name="SendTTSBinding" type="tns:SendTTSPortType">
    <soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <wsdl:operation name="send_tts">
      <soap:operation soapAction="${soapAction}"/>
      <wsdl:input><soap:body use="literal"/></wsdl:input>
      <wsdl:output><soap:body use="literal"/></wsdl:output>
    </wsdl:operation>
  </wsdl:binding>
  <wsdl:service name="SendTTSService">
    <wsdl:port name="SendTTSPort" binding="tns:SendTTSBinding">
      <soap:address location="${escapeHtml(address)}"/>
    </wsdl:port>
  </wsdl:service>
</wsdl:definitions>
`;
  return { status: 200, headers: { 'Content-Type': 'text/xml; charset=utf-8' }, body };
}

/** An element with each part at most once, in this order. */
function elementOf(name: string, parts: readonly string[]): string {
  const children = parts.map((part) => {
    const type = part === 'csv_file' ? 'xs:base64Binary' : 'xs:string';
    return `<xs:element name="${part}" type="${type}" minOccurs="0"/>`;
  });
  return `<xs:element name="${name}"><xs:complexType><xs:sequence>
${children.join('\n')}
</xs:sequence></xs:complexType></xs:element>`;
}
