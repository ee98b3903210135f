import { expect, test } from 'vitest'
import { mediaTypeOf } from '../../../src/http/request/media-type.ts'

test.each([
  ['application/json', 'application/json', null],
  ['Application/JSON', 'application/json', null],
  ['application/json;charset=UTF-8', 'application/json', 'utf-8'],
  ['application/json ; charset="utf-8"', 'application/json', 'utf-8'],
  ['application/json;\tCharset=Latin1 ; x="a;b"', 'application/json', 'latin1'],
  ['application/json;;', 'application/json', null],
  ['application/json, application/json', 'application/json', null],
  ['application/json; charset=utf-8, application/json; charset=utf-8', 'application/json', 'utf-8, application/json'],
  ['multipart/form-data; boundary="a b"', 'multipart/form-data', null],
])('%s', (header, essence, charset) => {
  expect(mediaTypeOf(header)).toEqual({ essence, charset })
})

test.each([undefined, null, '', 'json', 'application/', '/json', 'a b/c', ','])('%j is none', (header) => {
  expect(mediaTypeOf(header)).toBe(null)
})
