import type { DocumentNode, ExecutionArgs, FieldNode, GraphQLSchema } from 'graphql'
import { getOperationAST, Kind, OperationTypeNode, print, valueFromASTUntyped, visit } from 'graphql'
import { startPosition } from '../../event-log/tail.ts'

/** An operation without its start cursor: the same for all listeners. */
export interface Operation {
  readonly key: string
  readonly args: ExecutionArgs
}

/** How an operation can be shared. */
interface SharingPlan {
  /** Its document without the argument `after`, and its text. */
  readonly document: DocumentNode
  readonly text: string
  readonly after: FieldNode['arguments']
  /** The variables that matter for the results. */
  readonly variableNames: readonly string[]
}

/** A document is parsed once for all callers with the same text. */
const plans = new WeakMap<DocumentNode, Map<string, SharingPlan | null>>()

/** Returns how an operation can be shared; null: it cannot. */
export function planOf(args: ExecutionArgs): SharingPlan | null {
  const { document, operationName, schema } = args
  const known = plans.get(document) ?? new Map<string, SharingPlan | null>()
  plans.set(document, known)
  const name = operationName ?? ''
  const found = known.get(name)
  if (found !== undefined) return found
  const plan = makePlan(document, operationName, schema)
  known.set(name, plan)
  return plan
}

function makePlan(
  document: DocumentNode,
  operationName: string | null | undefined,
  schema: GraphQLSchema,
): SharingPlan | null {
  const operation = getOperationAST(document, operationName)
  if (operation?.operation !== OperationTypeNode.SUBSCRIPTION) return null
  const [field, ...more] = operation.selectionSet.selections
  if (field?.kind !== Kind.FIELD || more.length > 0) return null
  if (schema.getSubscriptionType()?.getFields()[field.name.value]?.extensions['broadcast'] !== true) return null
  const isAfter = ({ name }: { readonly name: { readonly value: string } }) => name.value === 'after'
  const shared: DocumentNode = visit(document, {
    Field: (node) =>
      node === field
        ? { ...node, arguments: node.arguments?.filter((argument) => !isAfter(argument)) ?? [] }
        : undefined,
  })
  const variableNames = new Set<string>()
  visit(shared, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void variableNames.add(name.value),
  })
  return {
    document: shared,
    text: print(shared),
    after: field.arguments?.filter(isAfter) ?? [],
    variableNames: [...variableNames].sort(),
  }
}

/** Returns the operation that all callers with the same document and variables share, apart from their start cursor. */
export function operationOf(
  args: ExecutionArgs,
  plan: SharingPlan,
  variables: Readonly<Record<string, unknown>>,
): Operation {
  const usedVariables = plan.variableNames.map((name) => [name, variables[name]])
  return {
    key: JSON.stringify([plan.text, args.operationName ?? null, usedVariables]),
    args: { ...args, document: plan.document, contextValue: undefined, rootValue: undefined },
  }
}

/** Returns the position after which an operation begins; null: only new events. */
export function afterOf({ after }: SharingPlan, variables: Readonly<Record<string, unknown>>): number | null {
  const value = after?.[0]?.value
  const cursor = value && valueFromASTUntyped(value, variables)
  return startPosition(cursor == null ? null : String(cursor))
}
