import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deliveryReportFormats } from '../../src/domain/delivery-reports.ts';
import { type DecodedDeliveryReport, decodeDeliveryReport } from '../../src/wire/delivery-report.ts';
import type { DeliveryReportCall } from '../../src/wire/delivery-report-call.ts';
import { maxMarkup, maxMembers, maxReferences, maxTagLength } from '../../src/wire/delivery-report-limits.ts';
import { encodeDeliveryReport } from '../../src/wire/encode-delivery-report.ts';
import { getCall, postCall } from '../support/delivery-report-calls.ts';

/**
 * Anyone can call the receiver. Structure is limited before parsing, so that no body of 1 MiB blocks the
 * process for long (docs/reference/interfaces.md, "Delivery reports").
 */

const megabyte = 1024 * 1024;
const members = '"Type":"SMS","Destination":"+6421","MessageID":"V1","Status":"Success"';
const elements =
  '<Type>SMS</Type><Destination>+6421</Destination><MessageID>V1</MessageID><Status>Success</Status>';
const fields = 'Type=SMS&Destination=%2B6421&MessageID=V1&Status=Success';

const why = (body: string | Uint8Array): string | DecodedDeliveryReport => {
  const decoded = decodeDeliveryReport(postCall(body));
  return decoded.kind === 'unreadable' ? decoded.why : decoded;
};
const read = (call: DeliveryReportCall) => {
  const decoded = decodeDeliveryReport(call);
  if (decoded.kind !== 'report') throw new Error(`expected a report, got ${JSON.stringify(decoded)}`);
  return decoded.report;
};

describe('decodeDeliveryReport: XML with a document type', () => {
  test.each([
    ['an external entity', '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'],
    ['an external entity of the network', '<!DOCTYPE r [<!ENTITY x SYSTEM "http://127.0.0.1:1/">]>'],
    ['a parameter entity', '<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1:1/"> %x;]>'],
    ['an external document type', '<!DOCTYPE r SYSTEM "http://127.0.0.1:1/r.dtd">'],
    [
      'an entity flood',
      `<!DOCTYPE r [<!ENTITY a "lol">${Array.from({ length: 10 }, (_, level) => `<!ENTITY a${level} "${'&a;'.repeat(10)}">`).join('')}]>`,
    ],
  ])('XML with %s is unreadable', (_, documentType) => {
    expect(why(`${documentType}<r>${elements}<Result>&x;&a9;</Result></r>`)).toBe('it has a document type');
    expect(why(`<?xml version="1.0"?>\n<!-- a -->${documentType}<r>${elements}</r>`)).toBe(
      'it has a document type',
    );
  });

  test('an entity without a declaration stays as it is written', () => {
    expect(read(postCall(`<r>${elements}<Result>&x;</Result></r>`)).result).toBe('&x;');
  });
});

describe('decodeDeliveryReport: limits of structure', () => {
  test.each([
    ['lists in JSON', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['lists in a member', `{${members},"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['objects in JSON', '{"a":'.repeat(100_000)],
    ['elements in XML', '<a>'.repeat(100_000) + '</a>'.repeat(100_000)],
  ])('nesting 100,000 levels deep is refused before parsing: %s', (_, body) => {
    expect(why(body)).toBe('it is nested deeper than 32 levels');
  });

  const many = maxMembers + 2;
  test.each([
    ['a list of numbers', `{${members},"a":[${'1,'.repeat(many)}1]}`],
    ['members', `{${Array.from({ length: many }, (_, index) => `"k${index}":1`).join(',')}}`],
    ['elements', `<r>${'<a>1</a>'.repeat(many)}</r>`],
    ['empty elements', `<r>${'<a/>'.repeat(2 * many)}</r>`],
    ['CDATA sections', `<r>${elements}<Result>${'<![CDATA[a]]>'.repeat(2 * many)}</Result></r>`],
    ['form fields', `${fields}&${'a=b&'.repeat(many)}`],
    ['a megabyte of form fields', Array.from({ length: 130_000 }, (_, index) => `k${index}=1`).join('&')],
  ])('more than 500 members are refused before parsing: %s', (_, body) => {
    expect(why(body)).toBe(`it has more than ${maxMembers} members`);
  });

  test('5 MB of numeric references are refused before parsing', () => {
    expect(why(`<r>${elements}<Message>${'&#65;'.repeat(megabyte)}</Message></r>`)).toBe(
      `it has more than ${maxReferences} references`,
    );
  });

  test.each([
    ['white space in a tag', `<r>${elements}<a${' '.repeat(megabyte)}/></r>`],
    ['white space in an end tag', `<r>${elements}<a></a${' '.repeat(megabyte)}></r>`],
    ['an attribute that hides the end of its tag', `<r>${elements}<a b=">${' '.repeat(megabyte)}"/></r>`],
    ['a tag that seems to end in an attribute', `<r>${elements}<a b="x>${' '.repeat(megabyte)}"/></r>`],
    ['an attribute in single quotes', `<r>${elements}<a b='>${'"'.repeat(megabyte)}'/></r>`],
    ['a comment', `<r>${elements}<!--${'- '.repeat(megabyte)}--></r>`],
    ['an instruction', `<r>${elements}<?a >${' '.repeat(megabyte)}?></r>`],
    ['a tag that does not end', `<r>${elements}<a`],
  ])('markup without an end is refused before parsing: %s', (_, body) => {
    expect(why(body)).toBe(`a tag or comment in it does not end within ${maxTagLength} characters`);
  });

  test('much markup in short pieces is refused before parsing', () => {
    const body = `<r>${elements}${`<a b="${'x'.repeat(1000)}"/>`.repeat(40)}</r>`;
    expect(why(body)).toBe(`it has more than ${maxMarkup} characters of markup`);
  });
});

describe('decodeDeliveryReport: large, simple bodies', () => {
  const long = 'x'.repeat(megabyte);

  test('a large body is read in all four forms', () => {
    const calls = [
      postCall(`{${members},"Result":"${long}"}`),
      postCall(`<r>${elements}<Result>${long}</Result></r>`),
      postCall(`${fields}&Result=${long}`),
      getCall(`${fields}&Result=${long}`),
    ];
    for (const call of calls) expect(read(call).result.length).toBe(megabyte);
  });

  test('brackets, commas, escapes and references inside texts are not counted', () => {
    expect(read(postCall(`{${members},"Result":"${'[{,:\\"'.repeat(1000)}"}`)).result).toBe(
      '[{,:"'.repeat(1000),
    );
    const cdata = `<![CDATA[${'<a>'.repeat(1000)}]]>`;
    expect(read(postCall(`<r>${elements}<Result>${cdata}</Result></r>`)).result).toBe('<a>'.repeat(1000));
    const section = `<![CDATA[${long}]]>`;
    expect(read(postCall(`<r>${elements}<Result>${section}</Result></r>`)).result).toBe(long);
    const references = '&#65;&lt;'.repeat(1000);
    expect(read(postCall(`<r>${elements}<Result>${references}</Result></r>`)).result).toBe('A<'.repeat(1000));
  });

  test('a Detail that is too long has no units', () => {
    const report = read(postCall(`{${members},"Detail":"${'SMSParts:1,'.repeat(50_000)}"}`));
    expect(report.units).toEqual({});
  });
});

describe('decodeDeliveryReport: names of the prototype', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];
  const bodies: readonly (readonly [string, (name: string) => DeliveryReportCall])[] = [
    ['json', (name) => postCall(`{${members},"${name}":{"Department":"evil","optedOut":true}}`)],
    ['xml', (name) => postCall(`<r>${elements}<${name}><Department>evil</Department></${name}></r>`)],
    ['post', (name) => postCall(`${fields}&${name}=evil&${name}[Department]=evil&${name}.Department=evil`)],
    ['get', (name) => getCall(`${fields}&${name}=evil&${name}[Department]=evil`)],
  ];

  test.each(bodies)('names of the prototype in %s change nothing and are not read', (_, bodyWith) => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    for (const name of names) {
      expect(JSON.stringify(decodeDeliveryReport(bodyWith(name)))).not.toContain('evil');
    }
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
    expect(Object.prototype).not.toHaveProperty('Department');
  });

  test('names of the prototype are ordinary values', () => {
    for (const name of names) {
      const report = read(postCall(`${fields}&Result=${name}&Detail=${name}:1`.replace('Success', name)));
      expect(report).toMatchObject({ outcome: 'unrecognised', status: name, result: name, units: {} });
    }
  });
});

test('a lone surrogate and NUL are removed in every form', () => {
  const half = '\\ud800';
  expect(read(postCall(`{${members},"Result":"a${half}\\u0000b"}`)).result).toBe('a\ufffdb');
  expect(read(postCall(`${fields}&Result=a%00b`)).result).toBe('ab');
  expect(why(`${fields}&Result=%ED%A0%80`)).toMatch('invalid percent-encoding');
  for (const reference of ['&#xD800;', '&#x00dfff;', '&#55296;', '&#57343;', '&#0;']) {
    expect(why(`<r>${elements}<Result>a${reference}b</Result></r>`)).toBe('the XML is not well-formed');
  }
  expect(read(postCall(`<r>${elements}<Result>&#55295;&#57344;</Result></r>`)).result).toBe('\ud7ff\ue000');
  expect(why(Buffer.from([...Buffer.from('{"Type":"'), 0xed, 0xa0, 0x80, 0x22, 0x7d]))).toBe(
    'the JSON is not UTF-8',
  );
});

test.each(['[]', '["SMS"]', '{}', '{"a":"SMS"}', 'null'])('%s is not read as text', (value) => {
  expect(why(`{${members}}`.replace('"SMS"', value))).toBe('it has no Type');
  expect(why(`{${members}}`.replace('"V1"', value))).toBe('it has no MessageID');
});

test('a number instead of a text is read as it was written', () => {
  const report = read(postCall(`{${members},"Price":0.10}`.replace('"+6421"', '6421000000000000000001')));
  expect(report).toMatchObject({ destination: '6421000000000000000001', price: '0.10' });
});

describe('decodeDeliveryReport: any bytes', () => {
  const kinds = ['report', 'inbound', 'unreadable'];

  test('no bytes throw', () => {
    const call = fc.record({
      method: fc.constantFrom<DeliveryReportCall['method'][]>('GET', 'POST'),
      contentType: fc.string(),
      body: fc.uint8Array({ maxLength: 300 }),
    });
    fc.assert(
      fc.property(call, (one) => {
        expect(kinds).toContain(decodeDeliveryReport(one).kind);
      }),
    );
  });

  test.each(deliveryReportFormats)('no damage to a real report throws, in %s', (format) => {
    const { method, body } = encodeDeliveryReport(
      {
        version: 'v2.02',
        messageId: 'V1',
        destination: '+64211234567',
        type: 'SMS',
        status: 'Success',
        result: 'Sent <OK> & "more"',
        units: { SMSParts: 2 },
        url: 'http://127.0.0.1/',
      },
      format,
    );
    const bytes = Buffer.from(body);
    const damage = fc.tuple(fc.nat({ max: bytes.length - 1 }), fc.nat({ max: 255 }));
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 5 }), (damages) => {
        const damaged = Uint8Array.from(bytes);
        for (const [index, byte] of damages) damaged[index] = byte;
        expect(kinds).toContain(decodeDeliveryReport({ method, contentType: '', body: damaged }).kind);
      }),
    );
  });
});
