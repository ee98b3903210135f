import graphqlEslint from '@graphql-eslint/eslint-plugin'
import { ESLint } from 'eslint'
import { expect, test } from 'vitest'

const { parser, configs } = graphqlEslint

/** The recommended rules for schemas, and those of Relay's server specification. */
const linter = new ESLint({
  overrideConfigFile: true,
  overrideConfig: [
    {
      files: ['**/*.graphql'],
      plugins: { '@graphql-eslint': graphqlEslint as never },
      languageOptions: {
        parser: parser as never,
        parserOptions: { graphQLConfig: { schema: './schema.graphql' } },
      },
      rules: {
        ...configs['flat/schema-recommended'].rules,
        ...configs['flat/schema-relay'].rules,
        '@graphql-eslint/require-description': [
          'error',
          {
            types: true,
            rootField: true,
            FieldDefinition: true,
            InputValueDefinition: true,
            EnumValueDefinition: true,
          },
        ],
        // Values without an identity of their own, such as a result or a figure, have no id.
        '@graphql-eslint/strict-id-in-types': 'off',
        // A bounded list that is returned whole needs no paging.
        '@graphql-eslint/relay-edge-types': [
          'error',
          { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false },
        ],
      } as never,
    },
  ],
})

test('schema.graphql follows the recommended and the Relay rules', async () => {
  const [result] = await linter.lintFiles(['schema.graphql'])
  const found = result?.messages.map(({ line, ruleId, message }) => `${line} ${ruleId}: ${message}`)
  expect(found).toEqual([])
})

test('the linter reports violations', async () => {
  const [result] = await linter.lintText('type Query {\n  theThing: String\n}\n', { filePath: 'schema.graphql' })
  expect(result?.messages.map(({ ruleId }) => ruleId)).toContain('@graphql-eslint/require-description')
})
