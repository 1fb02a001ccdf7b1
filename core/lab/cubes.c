#include "lab/cubes.h"

#include "base/prng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW           30    /* 900 cubes stand in a square */
#define SPACING       0.8   /* metres from one to the next */
#define SMALL_HALF    0.2   /* half an edge, metres */
#define PLAYER_HALF   0.75  /* half an edge of the player's */
#define DENSITY       100.0 /* kilograms per cubic metre */
#define GRAVITY       9.81  /* metres per second squared */
#define FRICTION      0.6   /* the coefficient */
#define BOUNCE        0.2   /* the share of its speed with which a cube comes back */
#define SUBSTEPS      2     /* parts of a step of the world */
#define ITERATIONS    8     /* rounds of the solver in each substep */
#define STEP          (1.0 / CW_LAB_CUBES_RATE / SUBSTEPS)
#define PLAYER_SPEED  5.0  /* metres per second */
#define SLEEP_SECONDS 0.4  /* seconds of little motion until a cube sleeps */
#define PULL          12.0 /* metres per second squared */
#define PULL_REACH    2.45 /* metres */
#define MAX_CONTACTS  16384

struct vector {
    double x, y, z;
};

static struct vector vector(double x, double y, double z)
{
    return (struct vector){x, y, z};
}

static struct vector add(struct vector a, struct vector b)
{
    return vector(a.x + b.x, a.y + b.y, a.z + b.z);
}

static struct vector scaled(struct vector a, double by)
{
    return vector(a.x * by, a.y * by, a.z * by);
}

static struct vector subtract(struct vector a, struct vector b)
{
    return add(a, scaled(b, -1));
}

static double dot(struct vector a, struct vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vector cross(struct vector a, struct vector b)
{
    return vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

struct body {
    struct vector position, velocity, spin;
    double orientation[4]; /* x, y, z, w */
    struct vector axes[3]; /* the edges' directions in the world */
    double half;
    double inverse_mass, inverse_inertia; /* the inertia of a cube is the same about every axis */
    double quiet;                         /* seconds with little motion so far */
    bool asleep, touched;
};

struct contact {
    struct body *a, *b;
    struct vector normal; /* the direction from b to a */
    struct vector from_a, from_b;
    double wanted; /* the speed at which the two should part, along the normal */
    double mass_normal;
    double impulse, friction;
};

struct cw_lab_cubes {
    struct cw_prng random;
    struct vector goal;
    double goal_left; /* seconds left until the next goal */
    struct body bodies[CW_LAB_CUBES_COUNT];
    struct body ground;
    uint32_t order[CW_LAB_CUBES_COUNT]; /* indices of cubes, sorted by x */
    struct contact contacts[MAX_CONTACTS];
    uint32_t contact_count;
};

static void turn_axes(struct body *body)
{
    const double *const q = body->orientation;
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    body->axes[0] = vector(1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y));
    body->axes[1] = vector(2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x));
    body->axes[2] = vector(2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y));
}

static void place(struct body *body, double x, double y, double half)
{
    const double mass = DENSITY * 8 * half * half * half;
    *body = (struct body){.position = {x, y, half},
                          .orientation = {0, 0, 0, 1},
                          .half = half,
                          .inverse_mass = 1 / mass,
                          .inverse_inertia = 6 / (mass * 4 * half * half),
                          .asleep = true};
    turn_axes(body);
}

struct cw_lab_cubes *cw_lab_cubes_create(uint64_t seed)
{
    struct cw_lab_cubes *const cubes = calloc(1, sizeof *cubes);
    if (!cubes)
        return NULL;
    cubes->random.state = seed;
    place(&cubes->bodies[0], -(ROW / 2.0 + 3) * SPACING, 0, PLAYER_HALF);
    for (uint32_t i = 1; i < CW_LAB_CUBES_COUNT; i++) {
        const uint32_t column = (i - 1) % ROW, row = (i - 1) / ROW;
        place(&cubes->bodies[i], (column - (ROW - 1) / 2.0) * SPACING,
              (row - (ROW - 1) / 2.0) * SPACING, SMALL_HALF);
    }
    for (uint32_t i = 0; i < CW_LAB_CUBES_COUNT; i++)
        cubes->order[i] = i;
    cubes->ground.asleep = true;
    return cubes;
}

void cw_lab_cubes_destroy(struct cw_lab_cubes *cubes)
{
    free(cubes);
}

static struct vector speed_at(const struct body *body, struct vector from_center)
{
    return add(body->velocity, cross(body->spin, from_center));
}

static double mass_along(const struct contact *contact, struct vector direction)
{
    const struct vector a = cross(contact->from_a, direction);
    const struct vector b = cross(contact->from_b, direction);
    return 1 / (contact->a->inverse_mass + contact->b->inverse_mass +
                contact->a->inverse_inertia * dot(a, a) + contact->b->inverse_inertia * dot(b, b));
}

static void wake(struct body *body)
{
    if (body->inverse_mass > 0 && body->asleep) {
        body->asleep = false;
        body->quiet = 0;
    }
}

static void add_contact(struct cw_lab_cubes *cubes, struct body *a, struct body *b,
                        struct vector point, struct vector normal, double depth)
{
    if (cubes->contact_count == MAX_CONTACTS)
        return;
    struct contact *const contact = &cubes->contacts[cubes->contact_count++];
    *contact = (struct contact){.a = a,
                                .b = b,
                                .normal = normal,
                                .from_a = subtract(point, a->position),
                                .from_b = subtract(point, b->position)};
    contact->mass_normal = mass_along(contact, normal);
    const double speed =
        dot(subtract(speed_at(a, contact->from_a), speed_at(b, contact->from_b)), normal);
    const double apart = depth > 0.005 ? 0.2 * (depth - 0.005) / STEP : 0;
    const double back = speed < -0.5 ? -BOUNCE * speed : 0;
    contact->wanted = apart > back ? apart : back;
    /* a cube at rest stays so when it is hardly moved */
    if (speed < -0.1 || speed > 0.1 || depth > 0.02) {
        wake(a);
        wake(b);
    }
    const struct body *const player = &cubes->bodies[0];
    a->touched |= b == player;
    b->touched |= a == player;
}

static struct vector corner(const struct body *body, uint32_t number)
{
    struct vector at = body->position;
    for (uint32_t i = 0; i < 3; i++)
        at = add(at, scaled(body->axes[i], number >> i & 1 ? body->half : -body->half));
    return at;
}

static void collide_with_ground(struct cw_lab_cubes *cubes, struct body *body)
{
    if (body->position.z > body->half * 1.8)
        return;
    for (uint32_t i = 0; i < 8; i++) {
        const struct vector at = corner(body, i);
        if (at.z < 0)
            add_contact(cubes, body, &cubes->ground, at, vector(0, 0, 1), -at.z);
    }
}

/* Pushes corners of a that are within b out of b, along the axis with the shortest way. */
static void collide_corners(struct cw_lab_cubes *cubes, struct body *a, struct body *b)
{
    for (uint32_t i = 0; i < 8; i++) {
        const struct vector at = corner(a, i);
        const struct vector from = subtract(at, b->position);
        double shortest = INFINITY;
        struct vector normal = {0, 0, 0};
        for (uint32_t axis = 0; axis < 3; axis++) {
            const double along = dot(from, b->axes[axis]);
            const double depth = b->half - fabs(along);
            if (depth < shortest) {
                shortest = depth;
                normal = scaled(b->axes[axis], along < 0 ? -1 : 1);
            }
        }
        if (shortest > 0)
            add_contact(cubes, a, b, at, normal, shortest);
    }
}

static void collide(struct cw_lab_cubes *cubes, struct body *a, struct body *b)
{
    const struct vector between = subtract(a->position, b->position);
    const double distance = sqrt(dot(between, between));
    const double reach = a->half + b->half;
    if (distance > reach * 1.7321)
        return;
    collide_corners(cubes, a, b);
    collide_corners(cubes, b, a);
    /* the balls inside the cubes catch edges that cross */
    if (distance < reach && distance > 0) {
        const struct vector normal = scaled(between, 1 / distance);
        const struct vector at = add(b->position, scaled(normal, b->half));
        add_contact(cubes, a, b, at, normal, reach - distance);
    }
}

static void find_contacts(struct cw_lab_cubes *cubes)
{
    uint32_t *const order = cubes->order;
    cubes->contact_count = 0;
    for (uint32_t i = 1; i < CW_LAB_CUBES_COUNT; i++)
        for (uint32_t j = i;
             j > 0 && cubes->bodies[order[j - 1]].position.x > cubes->bodies[order[j]].position.x;
             j--) {
            const uint32_t swapped = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swapped;
        }
    for (uint32_t i = 0; i < CW_LAB_CUBES_COUNT; i++) {
        struct body *const a = &cubes->bodies[order[i]];
        if (!a->asleep)
            collide_with_ground(cubes, a);
        for (uint32_t j = i + 1; j < CW_LAB_CUBES_COUNT; j++) {
            struct body *const b = &cubes->bodies[order[j]];
            if (b->position.x - a->position.x > (PLAYER_HALF + SMALL_HALF) * 1.7321)
                break;
            if (!a->asleep || !b->asleep)
                collide(cubes, a, b);
        }
    }
}

static void push(const struct contact *contact, struct vector impulse)
{
    struct body *const a = contact->a, *const b = contact->b;
    if (!a->asleep) {
        a->velocity = add(a->velocity, scaled(impulse, a->inverse_mass));
        a->spin = add(a->spin, scaled(cross(contact->from_a, impulse), a->inverse_inertia));
    }
    if (!b->asleep) {
        b->velocity = subtract(b->velocity, scaled(impulse, b->inverse_mass));
        b->spin = subtract(b->spin, scaled(cross(contact->from_b, impulse), b->inverse_inertia));
    }
}

static void solve(struct contact *contact)
{
    struct vector speed =
        subtract(speed_at(contact->a, contact->from_a), speed_at(contact->b, contact->from_b));
    const double along = dot(speed, contact->normal);
    const double before = contact->impulse;
    const double sum = before + (contact->wanted - along) * contact->mass_normal;
    contact->impulse = sum > 0 ? sum : 0;
    push(contact, scaled(contact->normal, contact->impulse - before));

    speed = subtract(speed_at(contact->a, contact->from_a), speed_at(contact->b, contact->from_b));
    const struct vector aside =
        subtract(speed, scaled(contact->normal, dot(speed, contact->normal)));
    const double size = sqrt(dot(aside, aside));
    if (size < 1e-9)
        return;
    const struct vector direction = scaled(aside, 1 / size);
    const double most = FRICTION * contact->impulse - contact->friction;
    const double stop = size * mass_along(contact, direction);
    const double used = stop < most ? stop : most > 0 ? most : 0;
    contact->friction += used;
    push(contact, scaled(direction, -used));
}

static void move(struct body *body)
{
    double *const q = body->orientation;
    const struct vector w = scaled(body->spin, 0.5 * STEP);
    const double x = q[0], y = q[1], z = q[2], s = q[3];
    q[0] = x + w.x * s + w.y * z - w.z * y;
    q[1] = y + w.y * s + w.z * x - w.x * z;
    q[2] = z + w.z * s + w.x * y - w.y * x;
    q[3] = s - w.x * x - w.y * y - w.z * z;
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (uint32_t i = 0; i < 4; i++)
        q[i] /= length;
    body->position = add(body->position, scaled(body->velocity, STEP));
    turn_axes(body);
}

static void rest(struct body *body)
{
    const bool quiet =
        dot(body->velocity, body->velocity) < 0.01 && dot(body->spin, body->spin) < 0.04;
    body->quiet = quiet ? body->quiet + STEP : 0;
    if (body->quiet < SLEEP_SECONDS)
        return;
    body->asleep = true;
    body->touched = false;
    body->velocity = body->spin = vector(0, 0, 0);
}

/* The player runs from one cube to another. */
static void choose_goal(struct cw_lab_cubes *cubes, const struct body *player)
{
    const struct vector way = subtract(cubes->goal, player->position);
    cubes->goal_left -= STEP;
    if (cubes->goal_left > 0 && way.x * way.x + way.y * way.y > 1)
        return;
    cubes->goal = cubes->bodies[1 + cw_prng_below(&cubes->random, CW_LAB_CUBES_COUNT - 1)].position;
    cubes->goal_left = 4;
}

/* Steers the player's cube, which also pulls what is near, and is pulled as strongly. */
static void steer(struct cw_lab_cubes *cubes)
{
    struct body *const player = &cubes->bodies[0];
    choose_goal(cubes, player);
    wake(player);
    player->quiet = 0;
    struct vector way = subtract(cubes->goal, player->position);
    way.z = 0;
    const double length = sqrt(dot(way, way)) + 1e-9;
    struct vector missing = subtract(scaled(way, PLAYER_SPEED / length), player->velocity);
    missing.z = 0;
    player->velocity = add(player->velocity, scaled(missing, 8 * STEP));
    for (uint32_t i = 1; i < CW_LAB_CUBES_COUNT; i++) {
        struct body *const body = &cubes->bodies[i];
        const struct vector toward = subtract(player->position, body->position);
        const double distance = sqrt(dot(toward, toward));
        if (distance > PULL_REACH)
            continue;
        wake(body);
        const struct vector impulse = scaled(toward, PULL * STEP / distance / body->inverse_mass);
        body->velocity = add(body->velocity, scaled(impulse, body->inverse_mass));
        player->velocity = subtract(player->velocity, scaled(impulse, player->inverse_mass));
    }
}

void cw_lab_cubes_step(struct cw_lab_cubes *cubes)
{
    for (uint32_t substep = 0; substep < SUBSTEPS; substep++) {
        steer(cubes);
        for (uint32_t i = 0; i < CW_LAB_CUBES_COUNT; i++)
            if (!cubes->bodies[i].asleep)
                cubes->bodies[i].velocity.z -= GRAVITY * STEP;
        find_contacts(cubes);
        for (uint32_t round = 0; round < ITERATIONS; round++)
            for (uint32_t i = 0; i < cubes->contact_count; i++)
                solve(&cubes->contacts[i]);
        for (uint32_t i = 0; i < CW_LAB_CUBES_COUNT; i++)
            if (!cubes->bodies[i].asleep) {
                move(&cubes->bodies[i]);
                rest(&cubes->bodies[i]);
            }
    }
}

void cw_lab_cubes_look(const struct cw_lab_cubes *cubes, uint32_t number,
                       struct cw_lab_cubes_body *body)
{
    const struct body *const from = &cubes->bodies[number];
    *body = (struct cw_lab_cubes_body){
        .position = {from->position.x, from->position.y, from->position.z},
        .velocity = {from->velocity.x, from->velocity.y, from->velocity.z},
        .spin = {from->spin.x, from->spin.y, from->spin.z},
        .touched = from->touched,
        .asleep = from->asleep,
    };
    memcpy(body->orientation, from->orientation, sizeof body->orientation);
}

void cw_lab_cubes_steer(struct cw_lab_cubes *cubes, double east, double north)
{
    cubes->goal = add(cubes->bodies[0].position, vector(4 * east, 4 * north, 0));
    cubes->goal_left = 0.1;
}

static double clamp(double value, double min, double max)
{
    return value < min ? min : value > max ? max : value;
}

void cw_lab_cubes_quantize(const struct cw_lab_cubes_body *body, struct cw_lab_cube *cube)
{
    const double *const q = body->orientation;
    uint32_t largest = 0, parts[3], count = 0;
    for (uint32_t i = 1; i < 4; i++)
        largest = fabs(q[i]) > fabs(q[largest]) ? i : largest;
    const double sign = q[largest] < 0 ? -1 : 1;
    for (uint32_t i = 0; i < 4; i++)
        if (i != largest)
            parts[count++] = (uint32_t)clamp(
                floor((q[i] * sign * 0.70710678118654752 + 0.5) * 511 + 0.5), 0, 511);
    *cube = (struct cw_lab_cube){
        .x = (int32_t)clamp(floor(body->position[0] * 512 + 0.5), -131072, 131071),
        .y = (int32_t)clamp(floor(body->position[1] * 512 + 0.5), -131072, 131071),
        .z = (uint32_t)clamp(floor(body->position[2] * 512 + 0.5), 0, 16383),
        .largest = largest,
        .a = parts[0],
        .b = parts[1],
        .c = parts[2],
        .touched = body->touched,
    };
}
