import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { en } from '../../src/language/en.ts'

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !/^(generated|language)\//.test(file))
  .map((file) => readFileSync(`src/${file}`, 'utf8'))
  .filter((text) => /\b(Catalogue|wordsOf|[wW]ords)\b/.test(text))

/** A name in the code: after a dot, or destructured from an object. */
const isNamed = (text: string, key: string) => new RegExp(`\\.${key}\\b|[{,]\\s*${key}\\s*[,:}=]`).test(text)

/** Keys that are looked up by a value, such as a status. */
const isLookedUp = (messages: object) => Object.keys(messages).every((key) => /^([A-Z_]+|\d+\w|year)$/.test(key))

test('every message is used', () => {
  const unused = Object.entries(en).flatMap(([section, messages]) => {
    const users = sources.filter((text) => isNamed(text, section))
    if (users.length === 0) return [section]
    if (typeof messages !== 'object' || isLookedUp(messages)) return []
    return Object.keys(messages)
      .filter((key) => !users.some((text) => isNamed(text, key)))
      .map((key) => `${section}.${key}`)
  })
  expect(unused).toEqual([])
})
