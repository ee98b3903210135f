// The GraphQL types and operations of the diagnosis.
import { requireOperator } from '../../core/access.ts'
import { costs, STATEMENT_COST } from '../../graphql/document/cost.ts'
import { builderFor } from '../../graphql/schema/builder.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import type { DiagnosisContext } from '../context.ts'
import type { Finding, Severity } from '../finding.ts'

const builder = builderFor<DiagnosisContext>()

const FindingSeverity = builder.enumType('FindingSeverity', {
  description: 'The severity of a finding.',
  values: describedValues<Uppercase<Severity>>({
    OK: 'There is no problem.',
    WARNING: 'It may break something for visitors or members.',
    ERROR: 'It breaks something for visitors or members.',
  }),
})

const severityNames = { ok: 'OK', warning: 'WARNING', error: 'ERROR' } as const

const FindingRef = builder.objectRef<Finding>('Finding').implement({
  description: 'A finding about the service or its environment.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'Its stable code, such as `PROXY_NOT_TRUSTED`.' }),
    subject: t.exposeString('subject', { description: 'The examined part, such as `mail`.' }),
    severity: t.field({
      type: FindingSeverity,
      description: 'Its severity.',
      resolve: ({ severity }) => severityNames[severity],
    }),
    message: t.exposeString('message', { description: 'A sentence that describes it.' }),
    fix: t.exposeString('fix', { nullable: true, description: 'How to fix it. Null: there is no problem.' }),
  }),
})

/** The maximum number of findings that the field’s cost assumes. */
const MAX_FINDINGS = 30

builder.queryField('diagnosis', (t) =>
  t.field({
    type: [FindingRef],
    description:
      'Examines this instance and its environment: proxy, websockets, public address, clock, database, mail, resolver and disk. Returns findings with the worst first. Operator only.',
    extensions: costs({ itself: 20 * STATEMENT_COST, items: () => MAX_FINDINGS }),
    resolve: (_root, _args, ctx) => {
      requireOperator(ctx)
      return ctx.diagnosis?.examine(ctx.route ?? null) ?? []
    },
  }),
)
