import { GraphQLInputObjectType, GraphQLObjectType } from 'graphql'
import { describe, expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import { configurationSchema } from '../../../src/configuration/json-schema.ts'
import { kindFields } from '../../../src/console/html/monitors/monitor-fields.ts'
import type { Member } from '../../../src/core/described.ts'
import { MonitorKind } from '../../../src/generated/prisma/enums.ts'
import { optionsOf } from '../../../src/monitoring/monitor/option-list.ts'
import { kindRules } from '../../../src/monitoring/monitor/probe-kinds.ts'

const kinds = Object.values(MonitorKind)

/** Returns the paths of the options of a kind, with those inside of objects. */
const pathsOf = (members: readonly Member[], place: string): string[] =>
  members.flatMap(({ name, shape }) => {
    const path = `${place}.${name}`
    return shape.kind === 'object' ? pathsOf(shape.members, path) : [path]
  })

describe.each(kinds)('an option of kind %s', (kind) => {
  const key = kind.toLowerCase()
  const options = optionsOf(kind)
  const typeName = `${kind.charAt(0)}${key.slice(1)}Options`

  test('has the words that people read, and is in its form once', () => {
    const { name, about } = kindRules[kind].words
    expect([name, about].filter((text) => text === '')).toEqual([])
    const fields = kindFields(kind)
    expect(fields.map((field) => field.name)).toEqual(pathsOf(options, key))
    expect(fields.filter(({ label }) => label === '').map((field) => `${field.name} has no label`)).toEqual([])
    const unnamed = fields.filter(({ choices = [] }) => choices.some(({ text }) => text === ''))
    expect(unnamed.map((field) => `${field.name} has a choice without a text`)).toEqual([])
  })

  test('is in the API’s input and output, with a description', () => {
    const input = schema.getType(`${typeName}Input`)
    const output = schema.getType(typeName)
    if (!(input instanceof GraphQLInputObjectType) || !(output instanceof GraphQLObjectType)) throw new Error(typeName)
    const [given, shown] = [input.getFields(), output.getFields()]
    const shownName = ({ name, words }: Member) =>
      words.secret === undefined ? name : `has${name.charAt(0).toUpperCase()}${name.slice(1)}`
    expect(options.filter(({ name }) => !given[name]?.description).map(({ name }) => name)).toEqual([])
    expect(options.filter((each) => !shown[shownName(each)]?.description).map(({ name }) => name)).toEqual([])
  })

  test('is in the schema of a configuration file, with its description', () => {
    if (kind === 'GROUP') return
    const described = JSON.stringify(configurationSchema())
    const missing = options.filter(({ words }) => !described.includes(JSON.stringify(words.description)))
    expect(missing.map(({ name }) => `${key}.${name}`)).toEqual([])
  })
})
