// The page as files that any web server can serve, from any folder of its own.
export default { base: './' };
