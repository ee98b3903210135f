import { expect, test } from 'vitest'
import { locationOf, networkOf, toNetwork } from '../../../src/blacklist/geo/record.ts'

test('reads a location from flat and from nested keys', () => {
  const place = { country: 'France', city: 'Lyon' }
  expect(locationOf({ country_code: 'FR', city: 'Lyon', state1: '' })).toEqual(place)
  expect(locationOf({ country: { iso_code: 'FR' }, city: { names: { de: 'Leon', en: 'Lyon' } } })).toEqual(place)
})

test.each([
  null,
  undefined,
  'FR',
  {},
  { country_code: '', city: ' ' },
  { country_code: 33, city: { names: 'Lyon' } },
  { country: null, city: null },
])('returns no location for %j', (record) => {
  expect(locationOf(record)).toEqual({ country: null, city: null })
})

test('reads a network from MaxMind’s keys', () => {
  const record = { autonomous_system_number: 15169, autonomous_system_organization: 'Google LLC' }
  expect(networkOf(record)).toEqual({ asn: 'AS15169', isp: 'Google LLC' })
})

test.each([null, {}, { autonomous_system_number: 'many', autonomous_system_organization: '' }])(
  'a network is unknown in %j',
  (record) => {
    expect(networkOf(record)).toEqual({ asn: null, isp: null })
  },
)

test('keeps the number of a network without a real holder name', () => {
  expect(toNetwork(64500, '')).toEqual({ asn: 'AS64500', isp: null })
  expect(toNetwork(64500, '-Reserved AS-')).toEqual({ asn: 'AS64500', isp: null })
})
