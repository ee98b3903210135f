import { expect, test } from 'vitest'
import { headerText } from '../../../src/network/outbound/header-text.ts'

test.each([
  ['plain', 'plain'],
  ['ge\xc3\xb6ffnet', 'geöffnet'],
  ['ge\xf6ffnet', 'geöffnet'],
  ['\xe2\x82\xac', '€'],
  ['\xc3\xb6 and \xf6', 'Ã¶ and ö'],
])('the bytes of a header, %j, are read as UTF-8 if they are', (value, text) => {
  expect(headerText(value)).toBe(text)
})
