import { defineTool, type Tool } from '../tool.js'

export function todoWriteTool(): Tool {
  return defineTool({
    name: 'TodoWrite',
    description:
      'Keeps a list of what is to be done, which the user sees: for work of several steps. Each call gives the whole list. Mark a step in_progress before you begin it, and completed as soon as it is.',
    readOnly: true,
    inputSchema: {
      type: 'object',
      properties: {
        todos: {
          type: 'array',
          description: 'The whole list, in order',
          items: {
            type: 'object',
            properties: {
              content: { type: 'string', description: 'What is to be done' },
              status: { type: 'string', enum: ['pending', 'in_progress', 'completed'] },
            },
            required: ['content', 'status'],
          },
        },
      },
      required: ['todos'],
    },
    async run({ todos }) {
      const done = todos.filter(({ status }) => status === 'completed').length
      const open = todos.filter(({ status }) => status !== 'completed').map(({ content }) => content)
      const next = open[0] === undefined ? '' : ` Next: ${open[0]}`
      return { status: 'ok', output: `The list is kept: ${done} of ${todos.length} done.${next}`, summary: `${done} of ${todos.length} done` }
    },
  })
}
