import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credentialIn, InvalidConnectionParams } from '../../../src/graphql/transport/connection-params.ts'

describe('a credential in connectionParams', () => {
  test.each([
    [{ authorization: 'Bearer ac_1' }],
    [{ Authorization: 'Bearer ac_1' }],
    [{ AUTHORIZATION: 'bearer ac_1' }],
    [{ authorization: 'ac_1' }],
    [{ apiKey: 'ac_1' }],
    [{ apikey: ' ac_1 ' }],
    [{ api_key: 'ac_1' }],
    [{ 'api-key': 'ac_1' }],
    [{ 'X-API-Key': 'ac_1' }],
    [{ 'x-api-key': 'ac_1' }],
    [{ xApiKey: 'ac_1' }],
    [{ headers: { Authorization: 'Bearer ac_1' } }],
    [{ headers: { authorization: 'Bearer ac_1', 'content-type': 'application/json', 'x-other': 'y' } }],
    [{ headers: { 'X-API-Key': 'ac_1' } }],
    [{ Headers: { 'x-api-key': 'ac_1' } }],
    [{ apiKey: 'ac_1', authorization: 'Bearer ac_1', headers: { 'X-Api-Key': 'ac_1' } }],
    [{ apiKey: 'ac_1', authorization: null, headers: null }],
    [{ apiKey: 'ac_1', authorization: 'Basic dTpw' }],
    [{ apiKey: 'ac_1', 'Content-Type': 'application/json', 'apollographql-client-name': 'web' }],
  ])('is read from %j', (params) => {
    expect(credentialIn(params)).toBe('ac_1')
  })

  test.each([
    [undefined],
    [null],
    [{}],
    [{ headers: {} }],
    [{ authorization: null }],
    [{ headers: { accept: '*/*' } }],
  ])('is absent in %j', (params) => {
    expect(credentialIn(params)).toBeNull()
  })

  test.each([
    [{ token: 'ac_1' }],
    [{ authToken: 'ac_1' }],
    [{ bearer: 'ac_1' }],
    [{ foo: 'ac_1' }],
    [{ headers: { 'x-auth-token': 'ac_1' } }],
    [{ headers: { cookie: 'a=b' } }],
    [{ headers: 'Authorization: Bearer ac_1' }],
    [{ headers: [['authorization', 'Bearer ac_1']] }],
    [{ payload: { apiKey: 'ac_1' } }],
    [{ authorization: 'Basic dTpw' }],
    [{ authorization: '' }],
    [{ apiKey: 'ac_1', headers: { authorization: 'Bearer ac_2' } }],
    ['ac_1'],
    [['ac_1']],
    [7],
  ])('of unknown form is rejected: %j', (params) => {
    expect(() => credentialIn(params)).toThrow(InvalidConnectionParams)
  })

  test('of a wrong type is an invalid key', () => {
    for (const value of [7, true, {}, []]) {
      expect(credentialIn({ apiKey: value })).toBe('')
      expect(credentialIn({ authorization: value })).toBe('')
    }
  })

  test('is never ignored, and every reason fits into a close frame', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything()), (params) => {
        try {
          if (credentialIn(params) !== null) return
          const present = Object.entries(params).filter(([, value]) => value !== null && value !== undefined)
          for (const [name] of present) expect(name).toMatch(/^(headers|accept|content|origin|referer|user-?_?agent)/i)
        } catch (error) {
          if (!(error instanceof InvalidConnectionParams)) throw error
          expect(Buffer.byteLength(error.message)).toBeLessThanOrEqual(123)
        }
      }),
    )
  })
})
