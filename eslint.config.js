import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  eslint.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      // A `default` says what happens to the rest; without one every case must be there.
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': 'allow-with-description' }],
      // Nest's modules are classes that carry decorators and nothing else.
      '@typescript-eslint/no-extraneous-class': 'off',
      // An implementation of an asynchronous port may have nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      eqeqeq: 'error',
      // ZooKeeper refuses paths with control characters; expressions that look for them must name them.
      'no-control-regex': 'off',
    },
  },
  {
    files: ['lib/**/*.ts'],
    rules: {
      'no-console': 'error',
      // Where a call needs five things, some of them belong together, and have a name.
      'max-params': ['error', 4],
      'no-restricted-properties': ['error', { object: 'process', property: 'exit' }],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
        { selector: 'ExportAllDeclaration', message: 'No barrels: name each export.' },
      ],
    },
  },
  {
    files: ['**/*.js'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly' } },
  },
);
