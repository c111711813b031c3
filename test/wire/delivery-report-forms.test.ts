import { describe, expect, test } from 'vitest';
import { decodeDeliveryReport, deliveryReportCredentials } from '../../src/wire/delivery-report.ts';
import { getCall, postCall } from '../support/delivery-report-calls.ts';

const form = 'Type=SMS&Destination=%2B64211234567&MessageID=V1&Status=Success&Result=Sent+OK%21&Price=0.080';
const json = '{"Type":"SMS","Destination":"+64211234567","MessageID":"V1","Status":"Success"}';
const xml =
  '<r><Type>SMS</Type><Destination>+64211234567</Destination><MessageID>V1</MessageID><Status>Success</Status></r>';
const mark = '\ufeff';

const report = {
  kind: 'report',
  report: { messageId: 'V1', destination: '+64211234567', outcome: 'delivered' },
};

describe('decodeDeliveryReport: form of the body', () => {
  test.each([
    ['JSON', json],
    ['JSON behind a mark and white space', `${mark}\r\n\t ${json}\n`],
    ['JSON behind white space and a mark', `\n${mark}${json}`],
    ['XML', xml],
    ['XML behind a mark and white space', `${mark}\n  <?xml version="1.0"?>\n${xml}\n`],
    ['form fields', form],
    ['form fields behind a mark, before a line end', `${mark}${form}\r\n`],
  ])('%s is recognised by its bytes, not by its content type', (_, body) => {
    const types = [
      '',
      'application/json',
      'text/xml',
      'application/x-www-form-urlencoded',
      'nonsense',
      'text/plain',
    ];
    for (const type of types) expect(decodeDeliveryReport(postCall(body, type))).toMatchObject(report);
  });

  test('a query string is read as form fields, with or without its question mark', () => {
    for (const query of [form, `?${form}`]) {
      expect(decodeDeliveryReport(getCall(query))).toMatchObject({
        report: { ...report.report, result: 'Sent OK!', price: '0.080' },
      });
    }
    expect(decodeDeliveryReport(getCall(''))).toMatchObject({
      why: 'the query string is neither JSON nor XML nor form fields',
    });
  });

  test('JSON with a multipart content type is read as JSON', () => {
    expect(decodeDeliveryReport(postCall(json, 'multipart/form-data; boundary=x'))).toMatchObject(report);
  });
});

describe('decodeDeliveryReport: form fields', () => {
  const because = (body: string | Uint8Array, type = '') => {
    const decoded = decodeDeliveryReport(postCall(body, type));
    return decoded.kind === 'unreadable' ? decoded.why : decoded;
  };
  const broken = 'the body has invalid percent-encoding or encodes text that is not UTF-8';

  test.each(['%', '%2', '%zz', '%C3', '%ED%A0%80', '%C0%AF', '%FF'])(
    'form fields with %s are unreadable',
    (value) => {
      expect(because(`${form}&Message=${value}`)).toBe(broken);
      expect(because(`${form}&${value}=1`)).toBe(broken);
    },
  );

  test.each(['<a>', '<a></b>', '<a>text</a>', '<a/>'])('XML without members is unreadable: %s', (body) => {
    expect(decodeDeliveryReport(postCall(body)).kind).toBe('unreadable');
  });

  test('form fields that are not UTF-8 are unreadable', () => {
    expect(because(Buffer.from(`${form}&Message=\xe9`, 'latin1'))).toBe('the body is not UTF-8');
  });

  test('form fields may contain unencoded UTF-8', () => {
    expect(decodeDeliveryReport(postCall(`${form}&SubAccount=Ōtaki`))).toMatchObject({
      report: { subAccount: 'Ōtaki' },
    });
  });

  test('a number with an unencoded plus sign is still read as that number', () => {
    expect(decodeDeliveryReport(postCall(form.replace('%2B', '+')))).toMatchObject(report);
    expect(decodeDeliveryReport(getCall(form.replace('%2B', '%20')))).toMatchObject(report);
  });

  test.each(['64211234567', '+021%20123', '+0211234567'])(
    'a number without an international form stays unchanged: %s',
    (number) => {
      const destination = decodeURIComponent(number.replace('+', ' '));
      expect(decodeDeliveryReport(postCall(form.replace('%2B64211234567', number)))).toMatchObject({
        report: { destination },
      });
    },
  );

  test.each(['multipart/form-data; boundary=x', 'Multipart/Mixed', ''])(
    'a multipart body with the content type %j is unreadable',
    (type) => {
      expect(because('--x\r\nContent-Disposition: form-data; name="Type"\r\n\r\nSMS\r\n--x--', type)).toBe(
        'the body is multipart, which delivery reports never are',
      );
    },
  );

  test('a form field without a value and an empty one are ignored', () => {
    expect(decodeDeliveryReport(postCall(`&&a&=b&${form}&`))).toMatchObject(report);
  });
});

describe('decodeDeliveryReport: repeated names', () => {
  const twice = {
    form: form.replace('Status=Success', 'Status=Success&status=Failed'),
    json: json.replace('"Status"', '"status":"Failed","Status"'),
    xml: xml.replace('<Status>', '<Status>Failed</Status><Status>'),
  };

  test.each(Object.entries(twice))(
    'different values of one name in %s make the report unreadable',
    (_, body) => {
      expect(decodeDeliveryReport(postCall(body))).toEqual({
        kind: 'unreadable',
        why: 'it has several values of Status',
      });
    },
  );

  test('equal values of one name count as one value', () => {
    expect(decodeDeliveryReport(postCall(twice.form.replace('Failed', 'Success')))).toMatchObject(report);
    expect(decodeDeliveryReport(postCall(twice.xml.replace('Failed', 'Success')))).toMatchObject(report);
  });

  test('a repeated name that the mapping does not use is ignored', () => {
    expect(decodeDeliveryReport(postCall(`${form}&other=1&other=2`))).toMatchObject(report);
  });

  test('an exactly repeated name in JSON makes the report unreadable, because the parser would hide one value', () => {
    const body = json.replace('"Status"', '"Status":"Failed","Status"');
    expect(decodeDeliveryReport(postCall(body))).toMatchObject({
      why: 'the JSON object repeats a name',
    });
    const written = json.replace('"Status"', '"\\u0053tatus":"Failed","Status"');
    expect(decodeDeliveryReport(postCall(written))).toMatchObject({ kind: 'unreadable' });
  });

  test('a name inside another member is not read', () => {
    const body = json.replace('}', ',"Detail":{"SMSParts":1,"a":{"b":1}},"x":[{"a":1,"a":2}]}');
    expect(decodeDeliveryReport(postCall(body))).toMatchObject({ report: { units: { SMSParts: 1 } } });
  });
});

describe('deliveryReportCredentials', () => {
  test('credentials are read in every form', () => {
    const expected = { sender: 'a@b.example', apiKey: 'k&1' };
    expect(deliveryReportCredentials(postCall('Sender=a%40b.example&APIKey=k%261'))).toEqual(expected);
    expect(deliveryReportCredentials(getCall('sender=a@b.example&apikey=k%261'))).toEqual(expected);
    expect(deliveryReportCredentials(postCall('{"Sender":"a@b.example","APIKey":"k&1"}'))).toEqual(expected);
    expect(
      deliveryReportCredentials(postCall('<r><Sender>a@b.example</Sender><APIKey>k&amp;1</APIKey></r>')),
    ).toEqual(expected);
  });

  test('ambiguous credentials and those of an unreadable call are not returned', () => {
    expect(deliveryReportCredentials(postCall('Sender=a&APIKey=k&apikey=l'))).toEqual({});
    expect(deliveryReportCredentials(postCall('{'))).toEqual({});
  });
});
