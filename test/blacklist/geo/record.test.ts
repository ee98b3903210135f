import { expect, test } from 'vitest'
import { network, networkOf, placeOf } from '../../../src/blacklist/geo/record.ts'

test('a place is read from flat keys and from nested ones', () => {
  const place = { country: 'France', city: 'Lyon' }
  expect(placeOf({ country_code: 'FR', city: 'Lyon', state1: '' })).toEqual(place)
  expect(placeOf({ country: { iso_code: 'FR' }, city: { names: { de: 'Leon', en: 'Lyon' } } })).toEqual(place)
})

test.each([
  null,
  undefined,
  'FR',
  {},
  { country_code: '', city: ' ' },
  { country_code: 33, city: { names: 'Lyon' } },
  { country: null, city: null },
])('a place is unknown in %j', (record) => {
  expect(placeOf(record)).toEqual({ country: null, city: null })
})

test('a network is read from the keys of MaxMind', () => {
  const record = { autonomous_system_number: 15169, autonomous_system_organization: 'Google LLC' }
  expect(networkOf(record)).toEqual({ asn: 'AS15169', isp: 'Google LLC' })
})

test.each([null, {}, { autonomous_system_number: 'many', autonomous_system_organization: '' }])(
  'a network is unknown in %j',
  (record) => {
    expect(networkOf(record)).toEqual({ asn: null, isp: null })
  },
)

test('a network whose holder is not named, or is only a placeholder, keeps its number', () => {
  expect(network(64500, '')).toEqual({ asn: 'AS64500', isp: null })
  expect(network(64500, '-Reserved AS-')).toEqual({ asn: 'AS64500', isp: null })
})
