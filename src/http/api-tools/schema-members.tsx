import type { Child } from 'hono/jsx'
import type { oas31 } from 'zod-openapi'
import { Table } from '../page/table.tsx'

/** A JSON schema, or a reference to one of the document. */
type Schema = oas31.SchemaObject | oas31.ReferenceObject

/** Returns a schema in which a reference is a schema with nothing else. */
const asSchema = (schema: Schema): oas31.SchemaObject => ({ ...schema })

const NAMED = '#/components/schemas/'

/** Returns the id of the section about a named schema. */
export const schemaId = (name: string) => `object-${name}`

/** Renders the type of a value in words, with links to the sections about named objects. */
export function TypeOf({ schema }: { readonly schema: Schema }): Child {
  const { $ref, anyOf, enum: values, const: only, type, items, format } = asSchema(schema)
  if ($ref !== undefined) {
    const name = $ref.slice(NAMED.length)
    return <a href={`#${schemaId(name)}`}>{name}</a>
  }
  if (anyOf !== undefined) return joined(anyOf.map((each) => <TypeOf schema={each} />))
  if (only !== undefined) return <code>{JSON.stringify(only)}</code>
  if (values !== undefined) return joined(values.map((value) => <code>{JSON.stringify(value)}</code>))
  if (items !== undefined)
    return (
      <>
        list of <TypeOf schema={items} />
      </>
    )
  const names = [type ?? 'any'].flat().join(' or ')
  return format === undefined ? names : `${names} (${format})`
}

const joined = (parts: readonly Child[]): Child => (
  <>
    {parts.map((part, index) => (
      <>
        {index === 0 ? '' : ' or '}
        {part}
      </>
    ))}
  </>
)

/** Renders the members of an object, also those of objects in it that have no name. Nothing for other values. */
export function Members({ schema, label }: { readonly schema: Schema; readonly label: string }) {
  const members = membersOf(schema, '')
  if (members.length === 0) return null
  return (
    <Table label={label} heads={['Member', 'Type', 'Description']}>
      {members.map(({ name, isRequired, schema: member }) => (
        <tr>
          <th scope="row">
            <code>{name}</code>
          </th>
          <td>
            <TypeOf schema={member} />
            {isRequired ? '' : ', optional'}
          </td>
          <td>{withCode(factsOf(member))}</td>
        </tr>
      ))}
    </Table>
  )
}

interface Member {
  /** Its path, such as `subscription.status`. */
  readonly name: string
  readonly isRequired: boolean
  readonly schema: Schema
}

function membersOf(schema: Schema, prefix: string): Member[] {
  const { properties = {}, required = [], anyOf = [], items } = asSchema(schema)
  const own = Object.entries(properties).flatMap(([key, member]): Member[] => {
    const name = prefix + key
    return [{ name, isRequired: required.includes(key), schema: member }, ...membersOf(member, `${name}.`)]
  })
  return [...own, ...anyOf.flatMap((each) => membersOf(each, prefix)), ...(items ? membersOf(items, prefix) : [])]
}

/** Renders a description: what stands between backticks is code, as in Markdown. */
export const withCode = (text: string): Child =>
  text.split('`').map((part, index) => (index % 2 === 0 ? part : <code>{part}</code>))

/** Returns what is said about a value: its description, limits and an example. */
function factsOf(schema: Schema): string {
  const { description, minimum, maximum, minItems, maxItems, maxLength, example } = asSchema(schema)
  const isLimit = (limit: number | undefined): limit is number =>
    limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER
  return [
    ...(description === undefined ? [] : [description]),
    ...(isLimit(minimum) ? [`At least ${minimum}.`] : []),
    ...(isLimit(maximum) ? [`At most ${maximum}.`] : []),
    ...(isLimit(minItems) ? [`At least ${minItems} of them.`] : []),
    ...(isLimit(maxItems) ? [`At most ${maxItems} of them.`] : []),
    ...(isLimit(maxLength) ? [`At most ${maxLength} characters.`] : []),
    ...(example === undefined ? [] : [`Such as ${JSON.stringify(example)}.`]),
  ].join(' ')
}
