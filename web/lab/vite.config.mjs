// Builds the page as files that any web server can serve, from any folder.
export default { base: './' };
