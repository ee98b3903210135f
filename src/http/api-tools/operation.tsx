import type { oas31 } from 'zod-openapi'
import { Table } from '../page/table.tsx'
import { Members, TypeOf, withCode } from './schema-members.tsx'

/** An operation of the API: a method of a path. */
interface OperationProps {
  readonly method: string
  readonly path: string
  readonly operation: oas31.OperationObject
  /** The URL of this service. */
  readonly server: string
}

/** Renders an operation, closed until a person opens it: its parameters, its body, its answers and an example. */
export function Operation({ method, path, operation, server }: OperationProps) {
  const { operationId, summary = '', description, requestBody, responses = {} } = operation
  const parameters = (operation.parameters ?? []).filter((each) => 'in' in each)
  const name = `${method.toUpperCase()} ${path}`
  const body = requestBody !== undefined && 'content' in requestBody ? requestBody : null
  return (
    <details class="operation">
      <summary>
        <h3 id={operationId ?? `${method}${path}`.replace(/\W+/g, '-')}>
          <span class={`method ${method}`}>{method.toUpperCase()}</span> <code>{path}</code>
        </h3>{' '}
        <span class="about">{withCode(summary)}</span>
      </summary>
      {description === undefined ? null : <p>{withCode(description)}</p>}
      <p>{whoMay(operation)}</p>
      <pre tabindex={0}>
        <code>{exampleOf({ method, path, operation, server }, parameters, body)}</code>
      </pre>
      {parameters.length === 0 ? null : <Parameters parameters={parameters} of={name} />}
      {body === null ? null : <Body body={body} of={name} />}
      <Answers responses={responses} of={name} />
    </details>
  )
}

/** Returns which key an operation needs. */
function whoMay({ security = [] }: oas31.OperationObject): string {
  if (security.length === 0) return 'Needs no API key.'
  const isOptional = security.some((each) => Object.keys(each).length === 0)
  const ways = 'in Authorization: Bearer ac_… or in X-API-Key.'
  return isOptional ? `Takes an API key, ${ways}` : `Needs an API key, ${ways}`
}

/** Returns a command that asks for it. */
function exampleOf(
  { method, path, operation: { security = [] }, server }: OperationProps,
  parameters: readonly oas31.ParameterObject[],
  body: oas31.RequestBodyObject | null,
): string {
  const query = parameters
    .filter((each) => each.in === 'query' && each.required === true)
    .map(({ name, schema }) => `${name}=${exampleIn(schema) ?? `{${name}}`}`)
  const needsKey = security.length > 0 && security.every((each) => Object.keys(each).length > 0)
  const types = Object.keys(body?.content ?? {})
  return [
    'curl',
    ...(method === 'get' || types.length > 0 ? [] : [`-X ${method.toUpperCase()}`]),
    `'${server}${path}${query.length === 0 ? '' : `?${query.join('&')}`}'`,
    ...(needsKey ? ["-H 'authorization: Bearer ac_…'"] : []),
    ...(types.includes('application/json') ? ['--json @body.json'] : []),
    ...(types.includes('multipart/form-data') ? ['-F file=@name.png'] : []),
  ].join(' ')
}

const exampleIn = (schema: oas31.ParameterObject['schema']): string | null =>
  schema !== undefined && 'example' in schema ? String(schema.example) : null

/** The name of the operation that a part belongs to. */
interface Part {
  readonly of: string
}

function Parameters({ parameters, of }: Part & { readonly parameters: readonly oas31.ParameterObject[] }) {
  return (
    <>
      <h4>Parameters</h4>
      <Table label={`Parameters of ${of}`} heads={['Name', 'Type', 'Description']}>
        {parameters.map(({ name, in: place, required, schema = {}, description = '' }) => (
          <tr>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>
              <TypeOf schema={schema} />
              <br />
              {place}
              {required === true ? ', required' : ''}
            </td>
            <td>{withCode(description)}</td>
          </tr>
        ))}
      </Table>
    </>
  )
}

function Body({ body: { content }, of }: Part & { readonly body: oas31.RequestBodyObject }) {
  return (
    <>
      <h4>Body</h4>
      {Object.entries(content).map(([type, { schema = {} }]) => (
        <>
          <p>
            <code>{type}</code>: <TypeOf schema={schema} />
          </p>
          <Members schema={schema} label={`Members of the body of ${of}, ${type}`} />
        </>
      ))}
    </>
  )
}

function Answers({ responses, of }: Part & { readonly responses: oas31.ResponsesObject }) {
  const all = Object.entries(responses).flatMap(([status, each]) =>
    'description' in each ? [{ status, ...(each as oas31.ResponseObject) }] : [],
  )
  return (
    <>
      <h4>Answers</h4>
      <Table label={`Answers of ${of}`} heads={['Status', 'Content', 'Description']}>
        {all.map(({ status, description, content = {}, headers = {} }) => (
          <tr>
            <th scope="row">{status}</th>
            <td>
              {Object.entries(content).map(([type, { schema = {} }]) => (
                <div>
                  <code>{type}</code> <TypeOf schema={schema} />
                </div>
              ))}
            </td>
            <td>
              {withCode(description)}
              {Number(status) < 400 ? <Headers headers={headers} /> : null}
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}

function Headers({ headers }: { readonly headers: NonNullable<oas31.ResponseObject['headers']> }) {
  const all = Object.entries(headers)
  if (all.length === 0) return null
  return (
    <ul>
      {all.map(([name, header]) => (
        <li>
          <code>{name}</code> {'description' in header ? withCode(header.description ?? '') : ''}
        </li>
      ))}
    </ul>
  )
}
