import { command, runStage } from '../../src/index.js'

/** Prints its options and operands as a line of JSON. */
runStage({
  name: 'shows-options',
  purpose: 'print its options and operands',
  verbs: {
    any: command({
      purpose: 'take options anywhere',
      options: {
        width: { type: 'count', value: 'N', about: 'columns', default: 80 },
        verbose: { type: 'flag', short: 'v', about: 'say more' },
      },
      operands: '[FILE...]',
      examples: ['shows-options any', 'shows-options any -v'],
      act: ({ options, operands, given, output }) => output.write(`${JSON.stringify({ options, operands, given: [...given] })}\n`),
    }),
    first: command({
      purpose: 'take options in front only',
      options: { width: { type: 'count', about: 'columns' } },
      operands: 'TYPE [FIELD...]',
      operandsEndOptions: true,
      examples: ['shows-options first', 'shows-options first X'],
      act: ({ operands, output }) => output.write(`${JSON.stringify(operands)}\n`),
    }),
    none: command({ purpose: 'take no operands', options: {}, examples: ['shows-options none', 'shows-options none'], act: () => 7 }),
  },
  examples: ['shows-options any a b', 'shows-options none'],
})
