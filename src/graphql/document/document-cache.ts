import type { DefinitionNode, DocumentNode, GraphQLSchema, Source } from 'graphql'
import { GraphQLError, Kind } from 'graphql'
import { LRUCache } from 'lru-cache'
import { parseWithinLimits } from './parse.ts'
import { validateWithinLimits } from './validation-limits.ts'

/**
 * The total length of the documents whose syntax trees are kept, in characters. A tree takes up to 250 bytes for a
 * character (measured with fields of one letter), so that strangers can fill 50 MB at most.
 */
const MAX_LENGTH = 200_000
/** A longer document is parsed each time, so that no few of them displace all others. */
const MAX_ENTRY_LENGTH = 20_000

/**
 * Parses and validates documents, and keeps the results. Of an invalid document it keeps the errors but not the tree:
 * strangers could send any number of different ones, which the garbage collector would move for as long as it takes to
 * parse them.
 */
export interface DocumentCache {
  /**
   * Parses a document, or returns it as it was parsed before. A document that is known to be invalid is returned without
   * its selections.
   * @throws GraphQLError like `parseWithinLimits`.
   */
  parse(source: string | Source): DocumentNode
  /** Returns the errors of a document that `parse` returned; none: it is valid. */
  validate(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[]
}

/** Creates an empty cache for the documents of one schema. */
export function createDocumentCache(): DocumentCache {
  const valid = createCache<DocumentNode>()
  const invalid = createCache<DocumentNode>()
  const syntaxErrors = createCache<GraphQLError>()
  const texts = new WeakMap<DocumentNode, string>()
  const verdicts = new WeakMap<DocumentNode, readonly GraphQLError[]>()

  function parseAnew(text: string): DocumentNode {
    const known = syntaxErrors.get(text)
    if (known) throw known
    try {
      const document = parseWithinLimits(text)
      texts.set(document, text)
      return document
    } catch (error) {
      if (error instanceof GraphQLError) syntaxErrors.set(text, error)
      throw error
    }
  }

  function judge(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
    const errors = validateWithinLimits(schema, document).map(withoutNodes)
    const text = texts.get(document)
    if (text === undefined) return errors
    if (errors.length === 0) valid.set(text, document)
    else {
      const outline = withoutSelections(document)
      verdicts.set(outline, errors)
      invalid.set(text, outline)
    }
    return errors
  }

  return {
    parse(source) {
      const text = typeof source === 'string' ? source : source.body
      return valid.get(text) ?? invalid.get(text) ?? parseAnew(text)
    },
    validate(schema, document) {
      const known = verdicts.get(document)
      if (known) return known
      const errors = judge(schema, document)
      verdicts.set(document, errors)
      return errors
    },
  }
}

function createCache<V extends {}>(): LRUCache<string, V> {
  return new LRUCache<string, V>({
    maxSize: MAX_LENGTH,
    maxEntrySize: MAX_ENTRY_LENGTH,
    sizeCalculation: (_value, document) => document.length + 1,
  })
}

/** Returns an error that does not hold its document's tree. */
function withoutNodes({ message, source, positions, extensions }: GraphQLError): GraphQLError {
  return new GraphQLError(message, { source, positions, extensions })
}

/** Returns the operations of a document without what they select. */
function withoutSelections({ definitions }: DocumentNode): DocumentNode {
  return { kind: Kind.DOCUMENT, definitions: definitions.flatMap(outlineOf) }
}

function outlineOf(definition: DefinitionNode): DefinitionNode[] {
  if (definition.kind !== Kind.OPERATION_DEFINITION) return []
  const { kind, operation, name } = definition
  const selectionSet = { kind: Kind.SELECTION_SET, selections: [] } as const
  return [{ kind, operation, selectionSet, ...(name && { name: { kind: name.kind, value: name.value } }) }]
}
