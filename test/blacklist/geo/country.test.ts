import { expect, test } from 'vitest'
import { countryName } from '../../../src/blacklist/geo/country.ts'

test('returns common names of countries', () => {
  expect(countryName('US')).toBe('United States')
  expect(countryName('de')).toBe('Germany')
  expect(countryName('XK')).toBe('Kosovo')
  expect(countryName('HK')).toBe('Hong Kong')
  expect(countryName('CD')).toBe('Democratic Republic of the Congo')
})

test.each(['', 'ZZ', 'XX', 'AP', 'A1', 'USA', '__', 'constructor'])('%j is not a country', (code) => {
  expect(countryName(code)).toBeNull()
})
