import { describe, expect, test } from 'vitest';
import { decodeDeliveryReport, deliveryReportCredentials } from '../../src/wire/delivery-report.ts';
import { asked, posted } from '../support/delivery-report-calls.ts';

const form = 'Type=SMS&Destination=%2B64211234567&MessageID=V1&Status=Success&Result=Sent+OK%21&Price=0.080';
const json = '{"Type":"SMS","Destination":"+64211234567","MessageID":"V1","Status":"Success"}';
const xml =
  '<r><Type>SMS</Type><Destination>+64211234567</Destination><MessageID>V1</MessageID><Status>Success</Status></r>';
const mark = '\ufeff';

const report = {
  kind: 'report',
  report: { messageId: 'V1', destination: '+64211234567', outcome: 'delivered' },
};

describe('a call is read by its bytes, not by the type it says', () => {
  test.each([
    ['JSON', json],
    ['JSON behind a mark and white space', `${mark}\r\n\t ${json}\n`],
    ['JSON behind white space and a mark', `\n${mark}${json}`],
    ['XML', xml],
    ['XML behind a mark and white space', `${mark}\n  <?xml version="1.0"?>\n${xml}\n`],
    ['form fields', form],
    ['form fields behind a mark, before a line end', `${mark}${form}\r\n`],
  ])('%s', (_, body) => {
    const types = [
      '',
      'application/json',
      'text/xml',
      'application/x-www-form-urlencoded',
      'nonsense',
      'text/plain',
    ];
    for (const type of types) expect(decodeDeliveryReport(posted(body, type))).toMatchObject(report);
  });

  test('a query string is form fields, with or without its question mark', () => {
    for (const query of [form, `?${form}`]) {
      expect(decodeDeliveryReport(asked(query))).toMatchObject({
        report: { ...report.report, result: 'Sent OK!', price: '0.080' },
      });
    }
    expect(decodeDeliveryReport(asked(''))).toMatchObject({
      why: 'the query string is neither JSON nor XML nor form fields',
    });
  });

  test('JSON posted as multipart is JSON', () => {
    expect(decodeDeliveryReport(posted(json, 'multipart/form-data; boundary=x'))).toMatchObject(report);
  });
});

describe('form fields', () => {
  const because = (body: string | Uint8Array, type = '') => {
    const decoded = decodeDeliveryReport(posted(body, type));
    return decoded.kind === 'unreadable' ? decoded.why : decoded;
  };
  const broken = 'the body has invalid percent-encoding or encodes text that is not UTF-8';

  test.each(['%', '%2', '%zz', '%C3', '%ED%A0%80', '%C0%AF', '%FF'])('with %s are unreadable', (value) => {
    expect(because(`${form}&Message=${value}`)).toBe(broken);
    expect(because(`${form}&${value}=1`)).toBe(broken);
  });

  test('that are not UTF-8 are unreadable', () => {
    expect(because(Buffer.from(`${form}&Message=\xe9`, 'latin1'))).toBe('the body is not UTF-8');
  });

  test('may hold UTF-8 that is not encoded', () => {
    expect(decodeDeliveryReport(posted(`${form}&SubAccount=Ōtaki`))).toMatchObject({
      report: { subAccount: 'Ōtaki' },
    });
  });

  test('with a plus sign that was not encoded still name the number', () => {
    expect(decodeDeliveryReport(posted(form.replace('%2B', '+')))).toMatchObject(report);
    expect(decodeDeliveryReport(asked(form.replace('%2B', '%20')))).toMatchObject(report);
  });

  test.each(['64211234567', '+021%20123', '+0211234567'])(
    'leave a number without one as it is: %s',
    (number) => {
      const destination = decodeURIComponent(number.replace('+', ' '));
      expect(decodeDeliveryReport(posted(form.replace('%2B64211234567', number)))).toMatchObject({
        report: { destination },
      });
    },
  );

  test.each(['multipart/form-data; boundary=x', 'Multipart/Mixed', ''])(
    'in multipart are unreadable: %s',
    (type) => {
      expect(because('--x\r\nContent-Disposition: form-data; name="Type"\r\n\r\nSMS\r\n--x--', type)).toBe(
        'the body is multipart, which delivery reports never are',
      );
    },
  );

  test('need no value and no ampersand to be passed over', () => {
    expect(decodeDeliveryReport(posted(`&&a&=b&${form}&`))).toMatchObject(report);
  });
});

describe('a name that comes twice', () => {
  const twice = {
    form: form.replace('Status=Success', 'Status=Success&status=Failed'),
    json: json.replace('"Status"', '"status":"Failed","Status"'),
    xml: xml.replace('<Status>', '<Status>Failed</Status><Status>'),
  };

  test.each(Object.entries(twice))('with different values in %s leaves the report unreadable', (_, body) => {
    expect(decodeDeliveryReport(posted(body))).toEqual({
      kind: 'unreadable',
      why: 'it has several values of Status',
    });
  });

  test('with the same value says one thing', () => {
    expect(decodeDeliveryReport(posted(twice.form.replace('Failed', 'Success')))).toMatchObject(report);
    expect(decodeDeliveryReport(posted(twice.xml.replace('Failed', 'Success')))).toMatchObject(report);
  });

  test('and is not looked for is passed over', () => {
    expect(decodeDeliveryReport(posted(`${form}&other=1&other=2`))).toMatchObject(report);
  });

  test('exactly, in JSON, leaves it unreadable: the parser would hide one', () => {
    const body = json.replace('"Status"', '"Status":"Failed","Status"');
    expect(decodeDeliveryReport(posted(body))).toMatchObject({
      why: 'the JSON object repeats a name',
    });
    const written = json.replace('"Status"', '"\\u0053tatus":"Failed","Status"');
    expect(decodeDeliveryReport(posted(written))).toMatchObject({ kind: 'unreadable' });
  });

  test('in a member of its own is not the report’s', () => {
    const body = json.replace('}', ',"Detail":{"SMSParts":1,"a":{"b":1}},"x":[{"a":1,"a":2}]}');
    expect(decodeDeliveryReport(posted(body))).toMatchObject({ report: { units: { SMSParts: 1 } } });
  });
});

describe('the credentials of a call', () => {
  test('are read in every form', () => {
    const expected = { sender: 'a@b.example', apiKey: 'k&1' };
    expect(deliveryReportCredentials(posted('Sender=a%40b.example&APIKey=k%261'))).toEqual(expected);
    expect(deliveryReportCredentials(asked('sender=a@b.example&apikey=k%261'))).toEqual(expected);
    expect(deliveryReportCredentials(posted('{"Sender":"a@b.example","APIKey":"k&1"}'))).toEqual(expected);
    expect(
      deliveryReportCredentials(posted('<r><Sender>a@b.example</Sender><APIKey>k&amp;1</APIKey></r>')),
    ).toEqual(expected);
  });

  test('are none where they are ambiguous or the call cannot be read', () => {
    expect(deliveryReportCredentials(posted('Sender=a&APIKey=k&apikey=l'))).toEqual({});
    expect(deliveryReportCredentials(posted('{'))).toEqual({});
  });
});
