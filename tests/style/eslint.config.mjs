// The rules of ESLint for JavaScript and TypeScript.
import { require } from '../support/packages.mjs';

const js = require('@eslint/js');
const off = (...rules) => Object.fromEntries(rules.map((rule) => [rule, 'off']));

export default [
  { ignores: ['**/dist/', '**/node_modules/', '**/generated.ts'] },
  js.configs.recommended,
  {
    files: ['**/*.{js,mjs,ts}'],
    rules: {
      ...off('no-regex-spaces', 'no-undef'),
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-var': 'error',
      // This does the same as max-params, which fails on types of functions as Babel gives them.
      'no-restricted-syntax': [
        'error',
        { selector: ':function[params.length>6]', message: 'More than 6 parameters.' },
      ],
      'object-shorthand': 'error',
      'prefer-const': ['error', { ignoreReadBeforeAssign: true }],
    },
  },
  // Functions of tests may be longer, as in C: a table of cases, or all questions to one browser.
  {
    files: ['{wasm,web}/**'],
    rules: { 'max-lines-per-function': ['error', { max: 60 }] },
  },
  {
    files: ['**/*.ts'],
    languageOptions: {
      parser: require('@babel/eslint-parser'),
      parserOptions: {
        requireConfigFile: false,
        babelOptions: {
          configFile: false,
          plugins: [require.resolve('@babel/plugin-syntax-typescript')],
        },
      },
    },
    // These rules are left to the TypeScript compiler: ESLint's do not know types, abstract methods and overloads.
    rules: off(
      'constructor-super',
      'getter-return',
      'no-dupe-args',
      'no-dupe-class-members',
      'no-redeclare',
      'no-this-before-super',
      'no-unreachable',
      'no-unused-vars',
    ),
  },
];
